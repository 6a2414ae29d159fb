#include "backplane/core/labels.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr unsigned kLengthBits = 7;
constexpr std::size_t kMoreBytes = std::size_t{1} << kLengthBits;

}  // namespace

std::size_t packed_size(std::string_view text) noexcept {
  std::size_t bytes = 1 + text.size();
  for (std::size_t left = text.size(); left >= kMoreBytes; left >>= kLengthBits) ++bytes;
  return bytes;
}

void append_packed(std::string& buffer, std::string_view text) {
  std::size_t left = text.size();
  for (; left >= kMoreBytes; left >>= kLengthBits) buffer.push_back(static_cast<char>(left % kMoreBytes | kMoreBytes));
  buffer.push_back(static_cast<char>(left));
  buffer.append(text);
}

std::optional<std::string_view> LabelsView::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : *this) {
    if (name >= key) return name == key ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace BACKPLANE_API
