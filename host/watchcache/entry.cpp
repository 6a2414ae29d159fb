#include "watchcache/entry.hpp"

#include <array>
#include <boost/container/static_vector.hpp>

#include "engine/codec.hpp"
#include "engine/raw_json.hpp"

namespace backplane {
namespace {

using Parts = boost::container::static_vector<std::string_view, 9>;

// Appends the parts of `json` with its resource version set to `version`.
void append_at_version(Parts& out, std::string_view json, const MetadataScan& scan, std::string_view version) {
  if (!scan.found) return out.push_back(json);
  out.push_back(json.substr(0, scan.version_begin));
  out.push_back(scan.comma_before ? R"(,"resourceVersion":")" : R"("resourceVersion":")");
  out.push_back(version);
  out.push_back(scan.comma_after ? R"(",)" : R"(")");
  out.push_back(json.substr(scan.version_end));
}

}  // namespace

EntryBuilder::EntryBuilder(CacheConfig config)
    : config_(std::move(config)),
      head_(R"({"kind":")" + config_.kind + R"(","apiVersion":")" + config_.api_version + R"(",)"),
      fields_(config_.fields) {}

void EntryBuilder::set_identity(std::string_view key, ObjectEntry& entry) const {
  std::string_view ns, name = key.substr(std::min(config_.prefix.size(), key.size()));
  const auto slash = name.find('/');
  if (config_.namespaced && slash != std::string_view::npos) {
    ns = name.substr(0, slash);
    name.remove_prefix(slash + 1);
  }
  entry.set_identity(key, ns, name);
}

ObjectRef EntryBuilder::build(const KeyValue& stored, WatchEvent::Type type) const {
  return build(stored.key, stored.value.view(), stored.mod_revision, type);
}

ObjectRef EntryBuilder::at_revision(const ObjectEntry& entry, Revision revision, WatchEvent::Type type) const {
  const SharedBytes kept = kept_json(entry);
  return kept.view() == entry.json().view() ? build(entry.key(), kept.view(), revision, type)
                                            : build_kept(entry.key(), kept.view(), revision, type);
}

std::shared_ptr<ObjectEntry> EntryBuilder::build_kept(std::string_view key, std::string_view kept, Revision revision,
                                                      WatchEvent::Type type) const {
  std::string compact;
  append_compact_json(compact, kept);
  auto entry = build(key, compact, revision, type);
  const std::string version = std::to_string(revision);
  Parts parts;
  append_at_version(parts, kept, scan_metadata(kept, config_.sorted_keys), version);
  set_kept_json(*entry, SharedBytes::concat(parts));
  return entry;
}

std::shared_ptr<ObjectEntry> EntryBuilder::build(std::string_view key, std::string_view json, Revision revision,
                                                 WatchEvent::Type type) const {
  if (json.starts_with(' ')) {
    json.remove_prefix(1);
    return build_kept(key, json, revision, type);
  }
  const auto scan = scan_metadata(json, config_.sorted_keys);
  auto entry = std::make_shared<ObjectEntry>();
  entry->revision = revision;
  set_identity(key, *entry);
  entry->set_labels(scan.labels);
  entry->set_fields(fields_.extract(json, scan.end));

  const std::string version = std::to_string(revision);
  const std::string_view head = json_frame_head(type);
  Parts parts{head};
  append_at_version(parts, json, scan, version);
  parts.push_back(json_frame_tail());
  const SharedBytes frame = SharedBytes::concat(parts);  // the entry shares these bytes

  const bool headed = !config_.sorted_keys && frame.view().substr(head.size()).starts_with(head_);
  const auto item_offset = headed ? static_cast<std::uint32_t>(head_.size()) : 0;
  entry->set_json_in_frame(frame, head.size(), frame.size() - head.size() - json_frame_tail().size(), item_offset, type);
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
  const std::array<std::string_view, 3> parts = {head, json, json_frame_tail()};
  auto entry = std::make_shared<ObjectEntry>();
  entry->revision = revision;
  entry->set_json_in_frame(SharedBytes::concat(parts), head.size(), json.size(), 0, kType);
  return {kType, std::move(entry)};
}

}  // namespace backplane
