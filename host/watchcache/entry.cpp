#include "watchcache/entry.hpp"

#include "backplane/codec.hpp"
#include "backplane/raw_json.hpp"

namespace backplane {
namespace {

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

ObjectRef EntryBuilder::build(const KeyValue& stored, WatchEvent::Type type) const {
  return build(stored.key, stored.value.view(), stored.mod_revision, type);
}

ObjectRef EntryBuilder::at_revision(const ObjectEntry& entry, Revision revision, WatchEvent::Type type) const {
  const std::string_view kept = kept_json(entry);
  return kept == entry.json().view() ? build(entry.key, kept, revision, type) : build_kept(entry.key, kept, revision, type);
}

std::shared_ptr<ObjectEntry> EntryBuilder::build_kept(std::string_view key, std::string_view kept, Revision revision,
                                                      WatchEvent::Type type) const {
  std::string compact;
  append_compact_json(compact, kept);
  auto entry = build(key, compact, revision, type);
  std::string text;
  append_at_revision(text, kept, scan_metadata(kept, sorted_keys_), revision);
  set_kept_json(*entry, std::move(text));
  return entry;
}

std::shared_ptr<ObjectEntry> EntryBuilder::build(std::string_view key, std::string_view json, Revision revision,
                                                 WatchEvent::Type type) const {
  if (json.starts_with(' ')) {
    json.remove_prefix(1);
    return build_kept(key, json, revision, type);
  }
  auto entry = std::make_shared<ObjectEntry>();
  entry->key = key;
  entry->revision = revision;
  read_name(key, *entry);
  auto scan = scan_metadata(json, sorted_keys_);
  entry->labels = std::move(scan.labels);
  entry->fields = fields_.extract(json, scan.end);

  const std::string_view head = json_frame_head(type);
  std::string frame;
  constexpr std::size_t kVersionMember = 48;  // `"resourceVersion":"…",`
  frame.reserve(head.size() + json.size() + kVersionMember + json_frame_tail().size());
  frame.append(head);
  append_at_revision(frame, json, scan, revision);
  const std::size_t size = frame.size() - head.size();
  frame.append(json_frame_tail());

  const bool headed = !sorted_keys_ && std::string_view(frame).substr(head.size()).starts_with(head_);
  const auto item_offset = headed ? static_cast<std::uint32_t>(head_.size()) : 0;
  entry->set_json_in_frame(SharedBytes(std::move(frame)), head.size(), size, item_offset, type);
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

  constexpr auto kType = WatchEvent::Type::kBookmark;
  const std::string_view head = json_frame_head(kType);
  std::string frame;
  frame.reserve(head.size() + json.size() + json_frame_tail().size());
  frame.append(head).append(json).append(json_frame_tail());
  auto entry = std::make_shared<ObjectEntry>();
  entry->revision = revision;
  entry->set_json_in_frame(SharedBytes(std::move(frame)), head.size(), json.size(), 0, kType);
  return {kType, std::move(entry)};
}

}  // namespace backplane
