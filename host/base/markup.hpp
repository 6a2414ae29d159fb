// Texts in HTML and XML.
//
// Thread-safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

enum class MarkupQuotes : unsigned char { kUnchanged, kEscaped };

// `text` with the references &amp; &lt; &gt; for its markup, so that no reader takes it for an element; kEscaped: quotation marks and
// apostrophes as &#34; and &#39; too, as the value of an attribute needs them (Go: html.EscapeString).
inline std::string escaped_markup(std::string_view text, MarkupQuotes quotes = MarkupQuotes::kUnchanged) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"' && quotes == MarkupQuotes::kEscaped) {
      out += "&#34;";
    } else if (c == '\'' && quotes == MarkupQuotes::kEscaped) {
      out += "&#39;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace backplane
