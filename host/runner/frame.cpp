#include "runner/frame.hpp"

#include <utility>

namespace backplane::runner {
namespace {

constexpr std::uint64_t kMagic = 0x31525042;  // "BPR1"
constexpr std::size_t kMagicBytes = 4;

}  // namespace

void append_head(std::string& out, const FrameHead& head) {
  Writer writer;
  writer.number(kMagic, kMagicBytes);
  writer.number(static_cast<std::uint64_t>(head.type), 2);
  writer.number(head.function, 2);
  writer.number(head.size, sizeof(head.size));
  writer.number(0, 4);
  out += writer.bytes();
}

std::optional<FrameHead> parse_head(std::string_view bytes) {
  if (bytes.size() != kHeadSize) return std::nullopt;
  Reader reader(bytes);
  if (reader.number(kMagicBytes) != kMagic) return std::nullopt;
  const std::uint64_t type = reader.number(2);
  if (type < static_cast<std::uint64_t>(FrameType::kCall) || type > static_cast<std::uint64_t>(FrameType::kRefusal)) return std::nullopt;
  FrameHead head;
  head.type = static_cast<FrameType>(type);
  head.function = static_cast<std::uint16_t>(reader.number(2));
  head.size = static_cast<std::uint32_t>(reader.number(sizeof(head.size)));
  const std::uint64_t reserved = reader.number(4);
  if (head.size > kMostPayload || reserved != 0) return std::nullopt;
  return head;
}

void Writer::number(std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i));
}

void Writer::text(std::string_view value) {
  number(value.size(), 4);
  bytes_.append(value);
}

std::uint64_t Reader::number(std::size_t bytes) {
  if (failed_ || rest_.size() < bytes) {
    failed_ = true;
    return 0;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  rest_.remove_prefix(bytes);
  return value;
}

std::string_view Reader::text() {
  const std::uint64_t size = number(4);
  if (failed_ || size > rest_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

std::uint32_t Reader::count(std::size_t least) {
  const std::uint64_t value = number(4);
  if (failed_ || value * least > rest_.size()) {
    failed_ = true;
    return 0;
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace backplane::runner
