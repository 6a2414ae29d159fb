// RequestContext: the arena, warnings, and the annotations of its audit events.
#include "backplane/core/request.hpp"

#include <algorithm>
#include <atomic>

#include "text/utf8.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::size_t kMaxWarningRunes = 4096;
constexpr std::size_t kMaxOneWarningRunes = 256;
// The maximum number of texts, which is reached if each of them has one character.
constexpr std::size_t kMaxWarnings = kMaxWarningRunes + 1;
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

std::atomic<AnnotationConflictLog> conflict_log{nullptr};

}  // namespace

bool UserInfo::in_group(std::string_view group) const noexcept { return std::find(groups.begin(), groups.end(), group) != groups.end(); }

// A pointer to a static object that it does not own.
UserRef::UserRef() noexcept {
  static const UserInfo no_user;
  user_ = std::shared_ptr<const UserInfo>(std::shared_ptr<void>(), &no_user);
}

// The context owns the memory resource. Its trees refer to the resource without owning it, so they need no reference counts.
RequestContext::RequestContext() : arena_(new json::monotonic_resource(kFirstArenaBlock)) {}
RequestContext::~RequestContext() { delete arena_.get(); }

void RequestContext::warn(std::string_view text) {
  if (text.empty() || warnings_.size() >= kMaxWarnings) return;
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.emplace_back(text);
}

bool RequestContext::annotate(std::string_view key, std::string value) {
  const auto found = audit_annotations_.find(key);
  if (found == audit_annotations_.end()) {
    audit_annotations_.emplace(key, std::move(value));
    return true;
  }
  if (found->second == value) return true;
  const AnnotationConflictLog log = conflict_log.load();
  if (log != nullptr && audit != nullptr) log(*this, key, found->second, value);
  return false;
}

void set_annotation_conflict_log(AnnotationConflictLog log) noexcept { conflict_log.store(log); }

// If all texts together are within the limit, they are sent completely; otherwise each text is truncated, and texts beyond the total limit
// are omitted.
std::vector<std::string> RequestContext::warnings() const {
  std::size_t total = 0;
  for (const std::string& warning : warnings_) total += count_runes(warning);
  if (total <= kMaxWarningRunes) return warnings_;
  std::vector<std::string> sent;
  std::size_t size = 0;
  for (const std::string& warning : warnings_) {
    const std::string_view cut = first_runes(warning, kMaxOneWarningRunes);
    if (size >= kMaxWarningRunes) break;
    if (std::find(sent.begin(), sent.end(), cut) != sent.end()) continue;
    sent.emplace_back(cut);
    size += count_runes(cut);
  }
  return sent;
}

}  // namespace BACKPLANE_API
