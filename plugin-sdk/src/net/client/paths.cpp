#include "net/client/paths.hpp"

namespace backplane::api_client {
namespace {

bool is_plain(char letter) noexcept {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '-' ||
         letter == '.' || letter == '_' || letter == '~';
}

class QueryText {
 public:
  void add(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    text_.append(text_.empty() ? "?" : "&").append(key).append("=").append(percent_encode(value));
  }
  void flag(std::string_view key, bool on) { add(key, on ? "true" : ""); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char letter : text) {
    if (is_plain(letter)) {
      out.push_back(letter);
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
  }
  return out;
}

std::string path_of(const GroupVersionResource& resource, std::string_view ns, std::string_view name, std::string_view subresource) {
  std::string path = resource.group_version().path();
  if (!ns.empty()) path.append("/namespaces/").append(percent_encode(ns));
  path.append("/").append(resource.resource);
  if (!name.empty()) path.append("/").append(percent_encode(name));
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

std::string query_of(const ListOptions& options) {
  QueryText query;
  query.add("labelSelector", options.labels.to_string());
  query.add("fieldSelector", options.fields.to_string());
  query.add("resourceVersion", options.resource_version);
  if (options.match == ResourceVersionMatch::kExact) query.add("resourceVersionMatch", "Exact");
  if (options.match == ResourceVersionMatch::kNotOlderThan) query.add("resourceVersionMatch", "NotOlderThan");
  if (options.limit > 0) query.add("limit", std::to_string(options.limit));
  query.add("continue", options.continue_token);
  query.flag("watch", options.watch);
  query.flag("allowWatchBookmarks", options.allow_watch_bookmarks);
  if (options.send_initial_events) query.add("sendInitialEvents", *options.send_initial_events ? "true" : "false");
  if (options.timeout_seconds) query.add("timeoutSeconds", std::to_string(*options.timeout_seconds));
  return query.take();
}

std::string query_of(const WriteOptions& options) {
  QueryText query;
  if (options.dry_run) query.add("dryRun", "All");
  query.add("fieldManager", options.field_manager);
  if (options.field_validation == FieldValidation::kIgnore) query.add("fieldValidation", "Ignore");
  if (options.field_validation == FieldValidation::kStrict) query.add("fieldValidation", "Strict");
  if (options.force) query.add("force", *options.force ? "true" : "false");
  return query.take();
}

Object delete_options_of(const DeleteOptions& options) {
  Object out;
  out["kind"] = "DeleteOptions";
  out["apiVersion"] = "v1";
  if (options.grace_period_seconds) out["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (options.preconditions.uid) ensure_object(out, "preconditions")["uid"] = *options.preconditions.uid;
  if (options.preconditions.resource_version)
    ensure_object(out, "preconditions")["resourceVersion"] = *options.preconditions.resource_version;
  if (options.orphan_dependents) out["orphanDependents"] = *options.orphan_dependents;
  if (options.propagation_policy) out["propagationPolicy"] = *options.propagation_policy;
  if (options.dry_run) out["dryRun"] = Array{"All"};
  return out;
}

}  // namespace backplane::api_client
