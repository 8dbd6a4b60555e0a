/// A text format that a scraper can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Prometheus text, version 0.0.4: what one gets who asks for nothing in particular.
    PrometheusText,
    /// OpenMetrics text, version 1.0.0.
    OpenMetrics,
}

impl Format {
    /// The format that an `Accept` header prefers (RFC 9110, section 12.5.1). Without a header, or when it names
    /// neither format, it is [`Format::PrometheusText`].
    pub fn from_accept(accept: Option<&str>) -> Self {
        let mut best = (Self::PrometheusText, 0.0);
        for range in accept.unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let format = match parts.next().unwrap_or_default().to_ascii_lowercase().as_str() {
                "application/openmetrics-text" => Self::OpenMetrics,
                "text/plain" => Self::PrometheusText,
                _ => continue,
            };
            let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(Ok(1.0), str::parse).unwrap_or(0.0);
            if quality > best.1 {
                best = (format, quality);
            }
        }
        best.0
    }

    /// The value of the `Content-Type` header.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::PrometheusText => prometheus_client::encoding::prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn the_preferred_format_wins() {
        let check = |accept: Option<&str>, expected| assert_eq!(Format::from_accept(accept), expected, "{accept:?}");
        check(None, Format::PrometheusText);
        check(Some("*/*"), Format::PrometheusText);
        check(Some("text/html"), Format::PrometheusText);
        check(Some("application/openmetrics-text"), Format::OpenMetrics);
        check(
            Some("text/plain;q=0.3, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1"),
            Format::OpenMetrics,
        );
        check(Some("text/plain, Application/OpenMetrics-Text; q=0.5"), Format::PrometheusText);
        check(Some("application/openmetrics-text;q=0"), Format::PrometheusText);
        check(Some("application/openmetrics-text;q=rubbish"), Format::PrometheusText);
    }
}
