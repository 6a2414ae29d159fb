// Texts: positions count code points.
#include <algorithm>
#include <vector>

#include "cel/functions.hpp"
#include "cel/string_format.hpp"
#include "cel/text.hpp"
#include "text/utf8.hpp"

namespace backplane::cel_detail {
namespace {

// A text with the byte offsets of its code points.
class Runes {
 public:
  explicit Runes(std::string_view text) : text_(text) {
    ascii_ = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii_) return;
    for (std::size_t at = 0; at < text.size(); at += decode_rune(text.substr(at)).size) starts_.push_back(at);
    starts_.push_back(text.size());
  }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(ascii_ ? text_.size() : starts_.size() - 1); }
  std::size_t byte(std::int64_t rune) const noexcept {
    return ascii_ ? static_cast<std::size_t>(rune) : starts_[static_cast<std::size_t>(rune)];
  }
  std::string_view part(std::int64_t begin, std::int64_t end) const noexcept { return text_.substr(byte(begin), byte(end) - byte(begin)); }
  // The index of the code point that begins at a byte.
  std::int64_t rune(std::size_t byte) const noexcept {
    if (ascii_) return static_cast<std::int64_t>(byte);
    return std::lower_bound(starts_.begin(), starts_.end(), byte) - starts_.begin();
  }

 private:
  std::string_view text_;
  bool ascii_ = false;
  std::vector<std::size_t> starts_;
};

Val out_of_range(Call& call, std::int64_t index) { return error_val(call.arena, "index out of range: " + std::to_string(index)); }

Val char_at(Call& call) {
  const Runes runes(call.text(0));
  const std::int64_t index = call[1].integer;
  if (index < 0 || index > runes.size()) return out_of_range(call, index);
  return string_val(index == runes.size() ? std::string_view() : runes.part(index, index + 1));
}

Val index_of(Call& call) {
  const std::string_view sought = call.text(1);
  const std::int64_t offset = call.size() > 2 ? call[2].integer : 0;
  if (sought.empty()) return int_val(offset);
  if (offset < 0) return out_of_range(call, offset);
  const Runes runes(call.text(0));
  if (offset >= runes.size()) return int_val(-1);
  const std::size_t found = call.text(0).find(sought, runes.byte(offset));
  return int_val(found == std::string_view::npos ? -1 : runes.rune(found));
}

Val last_index_of(Call& call) {
  const std::string_view text = call.text(0), sought = call.text(1);
  const Runes runes(text);
  if (sought.empty()) return int_val(call.size() > 2 ? call[2].integer : runes.size());
  if (call.size() == 2 && text.size() < sought.size()) return int_val(-1);
  const std::int64_t offset = call.size() > 2 ? call[2].integer : runes.size() - 1;
  if (offset < 0) return out_of_range(call, offset);
  if (offset >= runes.size()) return int_val(-1);
  const std::size_t found = text.rfind(sought, runes.byte(offset));
  return int_val(found == std::string_view::npos ? -1 : runes.rune(found));
}

template <char kFirst, char kLast, int kDistance>
Val shift_case(Call& call) {
  const std::string_view text = call.text(0);
  char* out = call.arena.allocate<char>(text.size());
  std::transform(text.begin(), text.end(), out, [](char c) { return c >= kFirst && c <= kLast ? static_cast<char>(c + kDistance) : c; });
  return string_val({out, text.size()});
}

// Like strings.Replace; a negative limit replaces all occurrences.
Val replace(Call& call) {
  const std::string_view text = call.text(0), old = call.text(1), with = call.text(2);
  std::int64_t left = call.size() > 3 ? call[3].integer : -1;
  if (left == 0 || old == with) return call[0];
  std::string out;
  const auto room = [&] { call.arena.expect(out.size() + with.size()); };
  if (old.empty()) {
    // Inserts the text before every code point, and at the end.
    std::size_t at = 0;
    for (; left != 0; --left) {
      room();
      out.append(with);
      if (at >= text.size()) break;
      const std::size_t size = decode_rune(text.substr(at)).size;
      out.append(text.substr(at, size));
      at += size;
    }
    if (at < text.size()) out.append(text.substr(at));
    return kept_string(call.arena, out);
  }
  std::size_t at = 0;
  for (; left != 0; --left) {
    const std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) break;
    room();
    out.append(text.substr(at, found - at)).append(with);
    at = found + old.size();
  }
  out.append(text.substr(at));
  return kept_string(call.arena, out);
}

// Like strings.SplitN: at most `limit` parts, the last of which is the rest.
Val split(Call& call) {
  const std::string_view text = call.text(0), separator = call.text(1);
  const std::int64_t limit = call.size() > 2 ? call[2].integer : -1;
  std::vector<Val> parts;
  const auto full = [&] { return limit > 0 && static_cast<std::int64_t>(parts.size()) + 1 >= limit; };
  if (limit == 0) return list_val(nullptr, 0);
  std::string_view rest = text;
  if (separator.empty()) {
    while (!rest.empty() && !full()) {
      const std::size_t size = decode_rune(rest).size;
      parts.push_back(string_val(rest.substr(0, size)));
      rest.remove_prefix(size);
    }
    if (!rest.empty()) parts.push_back(string_val(rest));
  } else {
    for (std::size_t found = rest.find(separator); found != std::string_view::npos && !full(); found = rest.find(separator)) {
      parts.push_back(string_val(rest.substr(0, found)));
      rest.remove_prefix(found + separator.size());
    }
    parts.push_back(string_val(rest));
  }
  Val* items = call.arena.allocate<Val>(parts.size());
  std::copy(parts.begin(), parts.end(), items);
  return list_val(items, parts.size());
}

Val substring(Call& call) {
  const Runes runes(call.text(0));
  const std::int64_t begin = call[1].integer, end = call.size() > 2 ? call[2].integer : runes.size();
  if (call.size() > 2 && begin > end) {
    return error_val(call.arena, "invalid substring range. start: " + std::to_string(begin) + ", end: " + std::to_string(end));
  }
  if (begin < 0 || begin > runes.size()) return out_of_range(call, begin);
  if (end < 0 || end > runes.size()) return out_of_range(call, end);
  return string_val(runes.part(begin, end));
}

// Like unicode.IsSpace.
bool is_space(char32_t c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

Val trim(Call& call) {
  std::string_view text = call.text(0);
  while (!text.empty()) {
    const Rune rune = decode_rune(text);
    if (!rune.valid || !is_space(rune.code)) break;
    text.remove_prefix(rune.size);
  }
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    const Rune rune = decode_rune(text.substr(begin));
    if (!rune.valid || !is_space(rune.code)) break;
    text = text.substr(0, begin);
  }
  return string_val(text);
}

Val reverse(Call& call) {
  const Runes runes(call.text(0));
  std::string out;
  for (std::int64_t i = runes.size(); i > 0; --i) out.append(runes.part(i - 1, i));
  return kept_string(call.arena, out);
}

Val join(Call& call) {
  const std::string_view separator = call.size() > 1 ? call.text(1) : std::string_view();
  std::string out;
  for (std::size_t i = 0; i < list_size(call[0]); ++i) {
    const Val item = list_at(call.arena, call[0], i);
    if (!item.is(ValKind::kString)) {
      std::string text = "join: invalid input: ";
      append_plain(call.arena, text, item);
      return error_val(call.arena, text);
    }
    call.arena.expect(out.size() + separator.size() + item.size);
    if (i != 0) out.append(separator);
    out.append(item.view());
  }
  return kept_string(call.arena, out);
}

// A text as CEL writes it.
Val quote(Call& call) {
  constexpr std::string_view kSpecial = "\a\b\f\n\r\t\v\\\"", kLetters = "abfnrtv\\\"";
  std::string out = "\"";
  std::string_view rest = call.text(0);
  while (!rest.empty()) {
    const Rune rune = decode_rune(rest);
    const std::size_t special = rune.size == 1 ? kSpecial.find(rest.front()) : std::string_view::npos;
    if (!rune.valid) {
      out.append("\xEF\xBF\xBD");
    } else if (special != std::string_view::npos) {
      out.append({'\\', kLetters[special]});
    } else {
      out.append(rest.substr(0, rune.size));
    }
    rest.remove_prefix(rune.size);
  }
  return kept_string(call.arena, out + "\"");
}

Val contains_text(Call& call) { return bool_val(call.text(0).find(call.text(1)) != std::string_view::npos); }
Val starts_with(Call& call) { return bool_val(call.text(0).starts_with(call.text(1))); }
Val ends_with(Call& call) { return bool_val(call.text(0).ends_with(call.text(1))); }

// Like strings.NewReplacer("/", "~1", "~", "~0"): replaces in one pass.
Val escape_pointer(Call& call) {
  std::string out;
  for (const char c : call.text(0)) {
    if (c == '/') {
      out.append("~1");
    } else if (c == '~') {
      out.append("~0");
    } else {
      out.push_back(c);
    }
  }
  return kept_string(call.arena, out);
}

constexpr Implementation kFunctions[] = {
    {"contains_string", contains_text},
    {"starts_with_string", starts_with},
    {"ends_with_string", ends_with},
    {"string_char_at_int", char_at},
    {"string_index_of_string", index_of},
    {"string_index_of_string_int", index_of},
    {"string_last_index_of_string", last_index_of},
    {"string_last_index_of_string_int", last_index_of},
    {"string_lower_ascii", shift_case<'A', 'Z', 32>},
    {"string_upper_ascii", shift_case<'a', 'z', -32>},
    {"string_replace_string_string", replace},
    {"string_replace_string_string_int", replace},
    {"string_split_string", split},
    {"string_split_string_int", split},
    {"string_substring_int", substring},
    {"string_substring_int_int", substring},
    {"string_trim", trim},
    {"string_reverse", reverse},
    {"list_join", join},
    {"list_join_string", join},
    {"strings_quote", quote},
    {"string_format", format_text},
    {"string_jsonpatch_escapeKey_string", escape_pointer},
};

}  // namespace

std::span<const Implementation> string_functions() { return kFunctions; }

}  // namespace backplane::cel_detail
