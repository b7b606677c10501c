//! Text from elsewhere in our messages: on one line, between marks, and the log of a container with the line
//! that says most first. Where a message is too long, what it quotes gives way, and what we say about it and
//! what to do stay whole. Pure.

/// The longest text that is quoted of a log, in characters: what the kubelet keeps of a termination message at most. Of
/// a log it keeps less.
const LOG_CHARS: usize = 4096;
/// The longest text of a status or an event that is quoted, in characters: the kubelet repeats the image's name
/// twice before it says why it cannot be pulled.
const TEXT_CHARS: usize = 1024;
/// The longest line that is put first, in characters.
const LINE_CHARS: usize = 300;
/// What is left of a quotation at least, in characters.
const LEAST_CHARS: usize = 20;
/// What stands between the line that says most and the rest of a log.
const END_OF_LOG: &str = " (the end of its log: ";
/// What begins or names an error in the languages of services. The case counts: `error=0` is none.
const CAUSES: [&str; 6] = ["Error", "Exception", "panic", "FATAL", "Fatal", "fatal"];
/// What only announces the lines that follow.
const ANNOUNCES: [&str; 2] = ["Traceback (most recent call last)", "stack backtrace:"];

/// The text on one line.
pub fn one_line(text: &str) -> String {
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    text.trim().chars().map(visible).collect()
}

/// The end of a container's log on one line. The last line with an error, if it is not the last of
/// all, comes first: what follows it in a log often says only that the program ends.
pub fn log(log: &str) -> String {
    let whole = one_line(log);
    let end = end(&whole, LOG_CHARS);
    let lines: Vec<&str> = log
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let is_cause = |line: &&&str| {
        let names = |words: &[&str]| words.iter().any(|word| line.contains(*word));
        names(&CAUSES) && !names(&ANNOUNCES)
    };
    let cause = lines.iter().rfind(is_cause).copied();
    match cause.filter(|cause| lines.last() != Some(cause)) {
        Some(cause) => {
            let cause: String = one_line(cause).chars().take(LINE_CHARS).collect();
            format!("{cause}{END_OF_LOG}{end})")
        }
        None => end,
    }
}

/// The start of a text on one line.
pub fn start_of(text: Option<&str>) -> String {
    let line = one_line(text.unwrap_or_default());
    let start: String = line.chars().take(TEXT_CHARS).collect();
    start.trim().to_owned()
}

/// The end of a text on one line, where a chain of errors states the cause.
pub fn end_of(text: Option<&str>) -> String {
    end(&one_line(text.unwrap_or_default()), TEXT_CHARS)
}

/// The last characters of a line, with dots where some are missing.
fn end(line: &str, limit: usize) -> String {
    let from = line.chars().count().saturating_sub(limit);
    let end: String = line.chars().skip(from).collect();
    let dots = if from > 0 { "... " } else { "" };
    format!("{dots}{}", end.trim())
}

/// Text from elsewhere as a part of a message, between the marks by which [`shorten`] finds it.
pub fn quotation(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

/// At most `limit` characters of a message. What stands between marks gives way first, so that what happened and
/// what to do are kept, however long they are.
pub fn shorten(message: &str, limit: usize) -> String {
    if message.chars().count() <= limit {
        return message.to_owned();
    }
    let parts: Vec<&str> = message.split('"').collect();
    let quotations = parts.len() / 2;
    let own = parts.iter().step_by(2).map(|part| part.chars().count());
    let own: usize = own.sum();
    let room = limit.saturating_sub(own + 2 * quotations);
    let is_paired = parts.len() % 2 == 1;
    if quotations == 0 || !is_paired || room < quotations * LEAST_CHARS {
        return without_middle(message, limit);
    }
    let share = room / quotations;
    let shortened = parts.iter().enumerate().map(|(index, part)| {
        if index % 2 == 1 {
            quotation(&less_of(part, share))
        } else {
            (*part).to_owned()
        }
    });
    shortened.collect()
}

/// At most `limit` characters of a quotation. Of a log, the line that says most is kept before its end is.
fn less_of(quoted: &str, limit: usize) -> String {
    let Some((cause, end)) = quoted.split_once(END_OF_LOG) else {
        return without_middle(quoted, limit);
    };
    let own = cause.chars().count() + END_OF_LOG.len();
    match limit.checked_sub(own) {
        Some(room) if room >= LEAST_CHARS => {
            format!("{cause}{END_OF_LOG}{}", without_middle(end, room))
        }
        Some(_) | None => without_middle(cause, limit),
    }
}

/// At most `limit` characters of a text: its middle is left out, and the last two thirds of the limit are kept.
fn without_middle(message: &str, limit: usize) -> String {
    const DOTS: &str = " ... ";
    let count = message.chars().count();
    if count <= limit {
        return message.to_owned();
    }
    let tail = 2 * limit / 3;
    let head = limit.saturating_sub(tail + DOTS.len());
    let begin: String = message.chars().take(head).collect();
    let end: String = message.chars().skip(count - tail).collect();
    format!("{}{DOTS}{}", begin.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_cut_at_its_end_or_at_its_start() {
        let text = format!("{}\nthe cause\n", "x".repeat(TEXT_CHARS));
        let quoted = end_of(Some(&text));
        assert!(
            quoted.starts_with("... xx") && quoted.ends_with("xx the cause"),
            "{quoted}"
        );
        assert_eq!(end_of(Some("short\n")), "short");
        assert_eq!(end_of(None), "");
        assert_eq!(start_of(Some(&text)), "x".repeat(TEXT_CHARS));
    }

    const GUNICORN: &str = "[INFO] Booting worker with pid: 7\n[ERROR] Exception in worker process\n\
        Traceback (most recent call last):\n  File \"/app/wsgi.py\", line 3, in <module>\n    \
        url = os.environ[\"DATABASE_URL\"]\nKeyError: 'DATABASE_URL'\n[INFO] Worker exiting (pid: 7)\n\
        [ERROR] Reason: Worker failed to boot.\n";

    #[test]
    fn the_line_with_the_error_comes_before_the_end_of_the_log() {
        let quoted = log(GUNICORN);
        let begins = "KeyError: 'DATABASE_URL' (the end of its log: [INFO] Booting";
        assert!(quoted.starts_with(begins), "{quoted}");
        assert!(quoted.ends_with("Worker failed to boot.)"), "{quoted}");
        let java = "Exception in thread \"main\" java.lang.A: b\n\tat x\nCaused by: java.io.IOException: full\n\tat y\n";
        assert!(
            log(java).starts_with("Caused by: java.io.IOException: full (the end"),
            "{}",
            log(java)
        );
        let go = "panic: no config\n\ngoroutine 1 [running]:\nmain.main()\n";
        assert!(
            log(go).starts_with("panic: no config (the end"),
            "{}",
            log(go)
        );
    }

    #[test]
    fn a_log_that_ends_with_its_error_or_has_none_is_quoted_as_it_is() {
        assert_eq!(log("a\nError: b\n"), "a Error: b");
        assert_eq!(log("a\nb\n"), "a b");
        assert_eq!(log(""), "");
        let long = "x".repeat(2 * LOG_CHARS);
        let quoted = log(&format!("{long}\nwasm trap"));
        assert!(quoted.starts_with("... xx") && quoted.ends_with("xx wasm trap"));
        assert!(quoted.chars().count() <= LOG_CHARS + 4);
    }

    #[test]
    fn a_message_is_shortened_in_its_middle() {
        let remedy = "set container.runAsUser to a number of 1 or more with which it works";
        let message = format!("CreateContainerError: {}: {remedy}", "x".repeat(500));
        let short = shorten(&message, 240);
        assert!(short.starts_with("CreateContainerError: xx"), "{short}");
        assert!(
            short.contains(" ... xx") && short.ends_with(remedy),
            "{short}"
        );
        assert_eq!(shorten("as it is", 240), "as it is");
    }

    #[test]
    fn a_quotation_gives_way_wherever_it_stands_and_marks_inside_it_are_others() {
        let event = quotation(&format!("no runtime for \"wasmtime\" {}", "x".repeat(500)));
        let remedy =
            "the node does not have the handler: add it to its configuration and restart it";
        let short = shorten(&format!("{remedy} (the node reported: {event})"), 240);
        assert!(short.starts_with(remedy), "{short}");
        assert!(
            short.contains("(the node reported: \"no runtime for 'wasmtime' xx"),
            "{short}"
        );
        assert!(short.ends_with("xx\")"), "{short}");
    }

    #[test]
    fn the_line_with_the_error_is_kept_before_the_end_of_the_log() {
        let cause = format!("KeyError: '{}'", "DATABASE_URL_".repeat(12));
        let text = format!(
            "{cause}\n{}\n[ERROR] Reason: Worker failed to boot.\n",
            "[INFO] x\n".repeat(200)
        );
        let message = format!("the container ended: {}: see why", quotation(&log(&text)));
        let short = shorten(&message, 300);
        assert!(
            short.starts_with(&format!(
                "the container ended: \"{cause} (the end of its log: "
            )),
            "{short}"
        );
        assert!(short.ends_with("failed to boot.)\": see why"), "{short}");
        let shorter = shorten(&message, 120);
        assert!(
            shorter.starts_with("the container ended: \"KeyError: '"),
            "{shorter}"
        );
        assert!(!shorter.contains("failed to boot"), "{shorter}");
    }

    proptest! {
        #[test]
        fn the_text_around_a_quotation_is_kept_whole(
            before in "[a-z ]{0,80}",
            quoted in "(?s).{100,600}",
            remedy in "[a-z ,.:;']{1,300}",
            more in 0_usize..100,
        ) {
            let message = format!("{before}: {}: {remedy}", quotation(&quoted));
            let limit = before.len() + remedy.len() + 6 + LEAST_CHARS + more;
            let short = shorten(&message, limit);
            prop_assert!(short.chars().count() <= limit);
            prop_assert!(short.starts_with(&before) && short.ends_with(&remedy), "{short}");
        }

        #[test]
        fn nothing_is_longer_than_its_limit(text in "(?s).{0,600}", limit in 20_usize..300) {
            prop_assert!(shorten(&text, limit).chars().count() <= limit);
            prop_assert!(!log(&text).chars().any(char::is_control));
        }
    }
}
