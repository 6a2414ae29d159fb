#include "backplane/types/json_reading.hpp"

#include "backplane/types/schema.hpp"
#include "engine/raw_json.hpp"
#include "raw/node.hpp"

namespace backplane BACKPLANE_API {
namespace {

std::uint32_t hex_unit(std::string_view text) noexcept {
  std::uint32_t unit = 0;
  for (const char c : text) {
    const std::uint32_t digit = c >= '0' && c <= '9'   ? static_cast<std::uint32_t>(c - '0')
                                : c >= 'a' && c <= 'f' ? static_cast<std::uint32_t>(c - 'a' + 10)
                                : c >= 'A' && c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10)
                                                       : 0;
    unit = unit << 4 | digit;
  }
  return unit;
}

void append_utf8(std::string& out, std::uint32_t point) {
  const auto tail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80 | (point >> shift & 0x3F))); };
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | point >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char plain_escape(char c) noexcept {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

bool text_nests_deeper(std::string_view json, std::size_t levels) noexcept {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"') {
      for (++i; i < json.size() && json[i] != '"'; ++i) i += json[i] == '\\' ? 1 : 0;
    } else if (json[i] == '{' || json[i] == '[') {
      if (++depth > levels) return true;
    } else if (json[i] == '}' || json[i] == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::optional<Value> read_json(std::string_view text, json::storage_ptr storage) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::system::error_code error;
  Value value = json::parse(json::string_view(text.data(), text.size()), error, storage, options);
  if (!error) return std::optional<Value>(std::move(value));
  // Raw JSON is stored as it was sent, so texts that the reader of bodies accepts (invalid UTF-8, unpaired surrogates) are accepted again.
  Result<Value> lenient = parse_json(text, std::move(storage), nullptr);
  if (!lenient.ok()) return std::nullopt;
  return std::optional<Value>(std::move(*lenient));
}

bool nests_deeper(const Value& value, std::size_t levels) noexcept {
  if (const Object* object = value.if_object()) return nests_deeper(*object, levels);
  const Array* array = value.if_array();
  if (array == nullptr) return false;
  if (is_raw_node(*array)) return text_nests_deeper(raw_text(value), levels);
  if (levels == 0) return true;
  for (const Value& item : *array) {
    if (nests_deeper(item, levels - 1)) return true;
  }
  return false;
}

bool nests_deeper(const Object& object, std::size_t levels) noexcept {
  if (levels == 0) return true;
  for (const auto& member : object) {
    if (nests_deeper(member.value(), levels - 1)) return true;
  }
  return false;
}

void append_json_unescaped(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out.push_back(text[i]);
      continue;
    }
    if (text[++i] != 'u') {
      out.push_back(plain_escape(text[i]));
      continue;
    }
    std::uint32_t point = hex_unit(text.substr(i + 1, 4));
    i += 4;
    if (point >= 0xD800 && point < 0xDC00 && text.substr(i < text.size() ? i + 1 : text.size(), 2) == "\\u") {
      point = 0x10000 + ((point - 0xD800) << 10) + ((hex_unit(text.substr(i + 3, 4)) - 0xDC00) & 0x3FF);
      i += 6;
    }
    append_utf8(out, point);
  }
}

UnreadableObject::UnreadableObject(std::string_view key)
    : std::runtime_error("the stored bytes of \"" + std::string(key) + "\" are no readable object") {}
UnreadableObject::~UnreadableObject() = default;

}  // namespace BACKPLANE_API
