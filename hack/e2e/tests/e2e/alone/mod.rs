//! What stops or changes something that all tests share: the operator, the API server, the CRD.

mod precision;
