//! Everything wasmbench decides: validate, plan, build, judge. No client, no clock, no async.
