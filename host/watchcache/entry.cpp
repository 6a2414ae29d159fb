#include "watchcache/entry.hpp"

#include "engine/codec.hpp"
#include "engine/raw_json.hpp"

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

EntryBuilder::EntryBuilder(CacheConfig config)
    : config_(std::move(config)),
      head_(R"({"kind":")" + config_.kind + R"(","apiVersion":")" + config_.api_version + R"(",)"),
      fields_(config_.fields) {}

void EntryBuilder::read_name(std::string_view key, ObjectEntry& entry) const {
  std::string_view rest = key.substr(std::min(config_.prefix.size(), key.size()));
  const auto slash = rest.find('/');
  if (config_.namespaced && slash != std::string_view::npos) {
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
  append_at_revision(text, kept, scan_metadata(kept, config_.sorted_keys), revision);
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
  auto scan = scan_metadata(json, config_.sorted_keys);
  entry->labels = std::move(scan.labels);
  entry->fields = fields_.extract(json, scan.end);

  const std::string_view head = json_frame_head(type);
  std::string frame;
  // Without room to spare: the frame lives as long as the object.
  const std::size_t version_member = std::string_view(R"("resourceVersion":"",)").size() + std::to_string(revision).size();
  frame.reserve(head.size() + json.size() + version_member + json_frame_tail().size());
  frame.append(head);
  append_at_revision(frame, json, scan, revision);
  const std::size_t size = frame.size() - head.size();
  frame.append(json_frame_tail());

  const bool headed = !config_.sorted_keys && std::string_view(frame).substr(head.size()).starts_with(head_);
  const auto item_offset = headed ? static_cast<std::uint32_t>(head_.size()) : 0;
  entry->set_json_in_frame(SharedBytes(std::move(frame)), head.size(), size, item_offset, type);
  return entry;
}

WatchEvent EntryBuilder::bookmark(Revision revision, bool initial_events_end) const {
  const std::string version = R"("resourceVersion":")" + std::to_string(revision) + '"';
  const std::string_view end = R"("annotations":{"k8s.io/initial-events-end":"true"})";
  std::string json;
  if (config_.sorted_keys) {
    json = R"({"apiVersion":")" + config_.api_version + R"(","kind":")" + config_.kind + R"(","metadata":{)";
    if (initial_events_end) json.append(end).push_back(',');
    json.append(version).append("}");
  } else {
    json = head_ + R"("metadata":{)" + version;
    if (initial_events_end) json.append(",").append(end);
    json.append("}").append(config_.empty_members);
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
