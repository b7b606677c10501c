//! Errors as pages.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;
use crate::error::Error;

/// An error as a page.
pub struct Failure(Arc<Dashboard>, StatusCode, String);

impl Failure {
    /// The cluster did not carry out a request.
    pub fn new(dashboard: &Arc<Dashboard>, error: &Error) -> Self {
        Self(
            dashboard.clone(),
            StatusCode::BAD_GATEWAY,
            error.to_string(),
        )
    }

    /// `what` does not exist.
    pub fn not_found(dashboard: &Arc<Dashboard>, what: &str) -> Self {
        let message = format!("There is no {what}. It may be deleted, or of another namespace.");
        Self(dashboard.clone(), StatusCode::NOT_FOUND, message)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self(dashboard, status, message) = self;
        (status, frame::message(&dashboard, &message)).into_response()
    }
}
