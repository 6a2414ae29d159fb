// Reads protobuf messages with few members, field by field.
//
// Thread-safety: pure functions.
// Lifetime:      values refer to the message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::kit {

struct WireField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  // the value of a varint
  std::string_view bytes;   // the value of a string, bytes or message field
  bool text = false;        // true: the value is in `bytes`
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  // Returns the next varint or length-delimited field; skips fields of other types. Returns nullopt at the end, and for malformed bytes.
  std::optional<WireField> next() {
    while (!rest_.empty()) {
      const auto tag = varint();
      if (!tag || *tag >> 3 == 0) return fail();
      const std::uint64_t type = *tag & 7;
      if (type == 0 || type == 2) {
        const auto value = varint();
        if (!value || (type == 2 && *value > rest_.size())) return fail();
        if (type == 0) return WireField{*tag >> 3, *value, {}, false};
        const std::string_view bytes = rest_.substr(0, *value);
        rest_.remove_prefix(*value);
        return WireField{*tag >> 3, 0, bytes, true};
      }
      const std::size_t size = type == 1 ? 8 : type == 5 ? 4 : 0;
      if (size == 0 || size > rest_.size()) return fail();
      rest_.remove_prefix(size);
    }
    return std::nullopt;
  }
  bool malformed() const noexcept { return malformed_; }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) return out;
    }
    return std::nullopt;
  }
  std::nullopt_t fail() {
    malformed_ = true;
    rest_ = {};
    return std::nullopt;
  }

  std::string_view rest_;
  bool malformed_ = false;
};

inline void append_wire_text(std::string& out, unsigned number, std::string_view text) {
  out.push_back(static_cast<char>(number << 3 | 2U));
  std::uint64_t size = text.size();
  for (; size >= 0x80; size >>= 7) out.push_back(static_cast<char>((size & 0x7F) | 0x80));
  out.push_back(static_cast<char>(size));
  out.append(text);
}

}  // namespace backplane::kit
