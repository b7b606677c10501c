//! Status codes and their phrases.

/// The status code of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(u16);

impl Status {
    /// 200
    pub const OK: Self = Self(200);
    /// 400
    pub const BAD_REQUEST: Self = Self(400);
    /// 405
    pub const METHOD_NOT_ALLOWED: Self = Self(405);
    /// 408
    pub const REQUEST_TIMEOUT: Self = Self(408);
    /// 413
    pub const CONTENT_TOO_LARGE: Self = Self(413);
    /// 417
    pub const EXPECTATION_FAILED: Self = Self(417);
    /// 431
    pub const HEAD_TOO_LARGE: Self = Self(431);
    /// 500
    pub const INTERNAL_SERVER_ERROR: Self = Self(500);
    /// 501
    pub const NOT_IMPLEMENTED: Self = Self(501);
    /// 502
    pub const BAD_GATEWAY: Self = Self(502);
    /// 503
    pub const SERVICE_UNAVAILABLE: Self = Self(503);
    /// 504
    pub const GATEWAY_TIMEOUT: Self = Self(504);
    /// 505
    pub const VERSION_NOT_SUPPORTED: Self = Self(505);

    /// The status with this code, as an upstream returned it.
    pub(crate) fn from_code(code: u16) -> Self {
        Self(code)
    }

    /// The three digits.
    pub fn code(self) -> u16 {
        self.0
    }

    /// True for 2xx.
    pub(crate) fn is_success(self) -> bool {
        (200..300).contains(&self.0)
    }

    /// True for 1xx, 204 and 304: a response with such a status never has a body.
    pub(crate) fn forbids_body(self) -> bool {
        self.0 < 200 || self.0 == 204 || self.0 == 304
    }

    /// The phrase of the status line. It is optional, and empty for codes that only an upstream
    /// returns.
    pub(crate) fn phrase(self) -> &'static str {
        match self.0 {
            200 => "OK",
            400 => "Bad Request",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            413 => "Content Too Large",
            417 => "Expectation Failed",
            431 => "Request Header Fields Too Large",
            500 => "Internal Server Error",
            501 => "Not Implemented",
            502 => "Bad Gateway",
            503 => "Service Unavailable",
            504 => "Gateway Timeout",
            505 => "HTTP Version Not Supported",
            _ => "",
        }
    }
}
