// RequestContext: the arena and the warnings.
#include "backplane/request.hpp"

#include <algorithm>

#include "utf8.hpp"

namespace backplane {
namespace {

constexpr std::size_t kMaxWarningRunes = 4096;
constexpr std::size_t kMaxOneWarningRunes = 256;
// Most requests build a tree of a few kilobytes.
constexpr std::size_t kFirstArenaBlock = 4096;

std::size_t count_runes(std::string_view text) noexcept {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(decode_rune(text).size);
  return count;
}

std::string_view first_runes(std::string_view text, std::size_t count) noexcept {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += decode_rune(text.substr(at)).size;
  return text.substr(0, at);
}

}  // namespace

bool UserInfo::in_group(std::string_view group) const noexcept { return std::find(groups.begin(), groups.end(), group) != groups.end(); }

RequestContext::RequestContext() : arena_(json::make_shared_resource<json::monotonic_resource>(kFirstArenaBlock)) {}
RequestContext::~RequestContext() = default;

void RequestContext::warn(std::string_view text) {
  if (text.empty()) return;
  if (warnings_truncated_) {
    if (warning_size_ >= kMaxWarningRunes) return;
    text = first_runes(text, kMaxOneWarningRunes);
  }
  if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
  warnings_.emplace_back(text);
  warning_size_ += count_runes(text);
  if (warnings_truncated_ || warning_size_ <= kMaxWarningRunes) return;
  // Over the limit: from here on every warning is cut, those already given too.
  warnings_truncated_ = true;
  warning_size_ = 0;
  for (std::string& warning : warnings_) {
    warning.resize(first_runes(warning, kMaxOneWarningRunes).size());
    warning_size_ += count_runes(warning);
  }
}

}  // namespace backplane
