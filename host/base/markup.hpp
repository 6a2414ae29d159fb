// Escapes text for HTML and XML.
//
// Thread-safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

enum class MarkupQuotes : unsigned char { kUnchanged, kEscaped };

// Returns `text` with & < > replaced by &amp; &lt; &gt;. With kEscaped, also " and ' by &#34; and &#39;, for the value of an attribute
// (Go: html.EscapeString).
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
