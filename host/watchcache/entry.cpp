#include "watchcache/entry.hpp"

namespace backplane {
namespace {

constexpr std::string_view kFrameEnd = "}\n";

std::string_view frame_head(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::kAdded:
      return R"({"type":"ADDED","object":)";
    case WatchEvent::Type::kModified:
      return R"({"type":"MODIFIED","object":)";
    case WatchEvent::Type::kDeleted:
      return R"({"type":"DELETED","object":)";
    case WatchEvent::Type::kBookmark:
      return R"({"type":"BOOKMARK","object":)";
    case WatchEvent::Type::kError:
      return R"({"type":"ERROR","object":)";
  }
  return {};
}

// Writes `json` with its resource version set to `revision`.
void append_at_revision(std::string& out, std::string_view json, const MetadataScan& scan, Revision revision) {
  if (!scan.found) {
    out.append(json);
    return;
  }
  out.append(json.substr(0, scan.version_begin));
  if (scan.comma_before) out.push_back(',');
  out.append(R"("resourceVersion":")").append(std::to_string(revision)).push_back('"');
  if (scan.comma_after) out.push_back(',');
  out.append(json.substr(scan.version_end));
}

}  // namespace

SharedBytes frame_for(const ObjectEntry& entry, WatchEvent::Type type) {
  const auto& cached = static_cast<const CachedEntry&>(entry);
  return cached.frame_type == type ? cached.frame : SharedBytes{};
}

std::string make_frame(WatchEvent::Type type, std::string_view json) {
  std::string frame;
  frame.reserve(frame_head(type).size() + json.size() + kFrameEnd.size());
  frame.append(frame_head(type)).append(json).append(kFrameEnd);
  return frame;
}

EntryBuilder::EntryBuilder(const CacheConfig& config)
    : prefix_(config.prefix),
      namespaced_(config.namespaced),
      sorted_keys_(config.sorted_keys),
      kind_(config.kind),
      api_version_(config.api_version),
      empty_members_(config.empty_members),
      head_(R"({"kind":")" + config.kind + R"(","apiVersion":")" + config.api_version + R"(",)"),
      fields_(config.fields) {}

void EntryBuilder::read_name(std::string_view key, ObjectEntry& entry) const {
  std::string_view rest = key.substr(std::min(prefix_.size(), key.size()));
  const auto slash = rest.find('/');
  if (namespaced_ && slash != std::string_view::npos) {
    entry.ns = rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
  }
  entry.name = rest;
}

CachedRef EntryBuilder::build(const KeyValue& stored, WatchEvent::Type type) const {
  return build(stored.key, stored.value.view(), stored.mod_revision, type);
}

CachedRef EntryBuilder::at_revision(const ObjectEntry& entry, Revision revision, WatchEvent::Type type) const {
  return build(entry.key, entry.json.view(), revision, type);
}

CachedRef EntryBuilder::build(std::string_view key, std::string_view json, Revision revision, WatchEvent::Type type) const {
  auto entry = std::make_shared<CachedEntry>();
  entry->key = key;
  entry->revision = revision;
  read_name(key, *entry);
  auto scan = scan_metadata(json, sorted_keys_);
  entry->labels = std::move(scan.labels);
  entry->fields = fields_.extract(json);

  const std::string_view head = frame_head(type);
  std::string frame;
  constexpr std::size_t kVersionMember = 48;  // `"resourceVersion":"…",`
  frame.reserve(head.size() + json.size() + kVersionMember + kFrameEnd.size());
  frame.append(head);
  append_at_revision(frame, json, scan, revision);
  const std::size_t size = frame.size() - head.size();
  frame.append(kFrameEnd);

  entry->frame = SharedBytes(std::move(frame));
  entry->frame_type = type;
  entry->json = entry->frame.slice(head.size(), size);
  if (!sorted_keys_ && entry->json.view().starts_with(head_)) entry->item_offset = static_cast<std::uint32_t>(head_.size());
  return entry;
}

WatchEvent EntryBuilder::bookmark(Revision revision, bool initial_events_end) const {
  const std::string version = R"("resourceVersion":")" + std::to_string(revision) + '"';
  const std::string_view end = R"("annotations":{"k8s.io/initial-events-end":"true"})";
  std::string json;
  if (sorted_keys_) {
    json = R"({"apiVersion":")" + api_version_ + R"(","kind":")" + kind_ + R"(","metadata":{)";
    if (initial_events_end) json.append(end).push_back(',');
    json.append(version).append("}");
  } else {
    json = head_ + R"("metadata":{)" + version;
    if (initial_events_end) json.append(",").append(end);
    json.append("}").append(empty_members_);
  }
  json.push_back('}');

  auto entry = std::make_shared<CachedEntry>();
  entry->revision = revision;
  entry->frame = SharedBytes(make_frame(WatchEvent::Type::kBookmark, json));
  entry->frame_type = WatchEvent::Type::kBookmark;
  entry->json = entry->frame.slice(frame_head(WatchEvent::Type::kBookmark).size(), json.size());
  return {WatchEvent::Type::kBookmark, entry, entry->frame};
}

}  // namespace backplane
