#include "app/plugin_objects.hpp"

#include <algorithm>
#include <optional>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/text.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/table.hpp"
#include "backplane/types/schema.hpp"
#include "endpoints/open_watches.hpp"
#include "plugins_v1alpha1_json.hpp"

namespace backplane {
namespace {

const std::string kPluginsApiVersion = std::string(kPluginsGroup) + "/" + std::string(kPluginsVersion);

// ---- one object

Object condition(std::string_view type, bool holds, std::string_view since, std::string_view reason, std::string message) {
  return {{"type", std::string(type)},
          {"status", holds ? "True" : "False"},
          {"lastTransitionTime", std::string(since)},
          {"reason", std::string(reason)},
          {"message", std::move(message)}};
}

struct StateReason {
  PluginState state;
  std::string_view reason;
};
constexpr StateReason kStateReasons[] = {{PluginState::kPlanned, "Planned"},   {PluginState::kDisabled, "Disabled"},
                                         {PluginState::kRejected, "Rejected"}, {PluginState::kBlocked, "RequirementMissing"},
                                         {PluginState::kFailed, "Failed"},     {PluginState::kCommitted, "Running"}};

struct FindingReason {
  std::string_view code, reason;
};
constexpr FindingReason kFindingReasons[] = {{finding_code::kQuarantined, "Quarantined"},
                                             {finding_code::kSafeMode, "SafeMode"},
                                             {finding_code::kProbeFailed, "ProbeFailed"},
                                             {finding_code::kCallTimedOut, "CallTimedOut"}};

std::string_view reason_of(const PluginStatus& plugin) {
  for (const auto& finding : plugin.findings) {
    for (const auto& row : kFindingReasons) {
      if (!plugin.runs() && row.code == finding.code) return row.reason;
    }
  }
  for (const auto& row : kStateReasons) {
    if (row.state == plugin.state) return row.reason;
  }
  return "Unknown";
}

std::string findings_text(const PluginStatus& plugin) {
  std::string out;
  for (const auto& finding : plugin.findings) {
    if (finding.severity != Severity::kInfo) out += (out.empty() ? "" : "; ") + to_line(finding);
  }
  return out;
}

Object loaded_condition(const PluginStatus& plugin) {
  std::string message = findings_text(plugin);
  if (plugin.runs()) {
    message = "build " + std::to_string(plugin.build) + " runs" + (message.empty() ? "" : "; " + message);
  } else if (message.empty()) {
    message = "it is switched off";
  }
  return condition("Loaded", plugin.runs(), time_text(plugin.since), reason_of(plugin), std::move(message));
}

Object ready_condition(const PluginStatus& plugin, const HookProgress& hooks) {
  const std::string since = time_text(plugin.since);
  if (!plugin.runs()) return condition("Ready", false, since, "NotLoaded", "the plugin does not run");
  if (!hooks.failed.empty()) return condition("Ready", false, since, "HookFailed", "its post-start hook " + hooks.failed + " has failed");
  if (!hooks.running.empty()) {
    return condition("Ready", false, since, "HookRunning", "its post-start hook " + hooks.running + " has not returned");
  }
  if (plugin.process && plugin.process->state != runner::RunnerState::kUp) {
    const bool quarantined = plugin.process->state == runner::RunnerState::kQuarantined;
    return condition("Ready", false, time_text(plugin.process->state_since), quarantined ? "Quarantined" : "ProcessEnded",
                     no_process_text(plugin));
  }
  return condition("Ready", true, since, "Started", "its post-start hooks have returned");
}

std::optional<Object> changed_condition(const PluginStatus& plugin) {
  if (!plugin.refused.empty()) return condition("Changed", false, time_text(plugin.refused_at), "Refused", plugin.refused);
  const auto changed = [&](std::string_view reason, std::string message) {
    return condition("Changed", true, time_text(plugin.since), reason, std::move(message));
  };
  switch (plugin.last_operation) {
    case PluginOperation::kNone:
      break;
    case PluginOperation::kReplaced:
      return changed("Replaced", "build " + std::to_string(plugin.build) + " replaced the former one");
    case PluginOperation::kEnabled:
      return changed("Enabled", "the plugin was enabled in the running server");
    case PluginOperation::kDisabled:
      return changed("Disabled", "the plugin was disabled in the running server");
  }
  return std::nullopt;
}

Array names_of(const std::vector<std::string>& names) {
  Array out;
  for (const auto& name : names) out.emplace_back(name);
  return out;
}

Object status_of(const PluginStatus& plugin, const HookProgress& hooks) {
  Object out{{"plugin", plugin.name}};
  if (!plugin.version.empty()) out["version"] = plugin.version;
  out["state"] = std::string(state_text(plugin));
  out["build"] = plugin.build;
  out["placement"] = placement_text(plugin);
  out["file"] = plugin.file;
  if (!plugin.former_version.empty()) out["formerVersion"] = plugin.former_version;
  if (plugin.in_tree) out["inTree"] = true;
  if (plugin.mapped_bytes != 0) out["mappedBytes"] = plugin.mapped_bytes;
  if (!plugin.group_versions.empty()) out["groupVersions"] = names_of(plugin.group_versions);
  if (!plugin.requires_.empty()) out["requires"] = names_of(plugin.requires_);
  Array conditions{loaded_condition(plugin), ready_condition(plugin, hooks)};
  if (auto changed = changed_condition(plugin)) conditions.emplace_back(std::move(*changed));
  out["conditions"] = std::move(conditions);
  return out;
}

// ---- the resource

void print_groups(const Object& object, std::int64_t, Array& cells) {
  cells.emplace_back(joined(texts_of(object_or_empty(object, "status"), "groupVersions"), ","));
}

// Prints the reason why the plugin does not run. For a running plugin: the reason why it is not ready, or why its last change was refused.
void print_reason(const Object& object, std::int64_t, Array& cells) {
  std::string_view reason;
  each(object_or_empty(object, "status"), "conditions", [&](const Object& each, std::size_t) {
    if (reason.empty() && get_string(each, "status") == "False") reason = get_string(each, "reason");
  });
  cells.emplace_back(reason);
}

ColumnTable plugin_table() {
  return ColumnTable(
      {kit::name_column(),
       {.name = "Version", .description = "Version in the manifest.", .path = ".status.version"},
       {.name = "State", .description = "Committed: it runs.", .path = ".status.state"},
       {.name = "Placement", .description = "in-process, or runner and its process id.", .path = ".status.placement"},
       {.name = "Groups", .description = "API group versions that it serves.", .cells = print_groups},
       kit::age_column(),
       {.name = "Reason", .description = "Why it does not run, or is not ready.", .priority = 1, .cells = print_reason},
       {.name = "Build", .type = "integer", .description = "Number of the build that runs.", .priority = 1, .path = ".status.build"},
       {.name = "File", .description = "File of the build.", .priority = 1, .path = ".status.file"}});
}

class PluginResource final : public RestStorage,
                             public Scoper,
                             public SingularNameProvider,
                             public TableProvider,
                             public Getter,
                             public Lister,
                             public Watcher {
 public:
  PluginResource(std::shared_ptr<ComputedObjects> objects, const Schema* schema) : objects_(std::move(objects)), schema_(schema) {}

  GroupVersionKind kind() const override { return {std::string(kPluginsGroup), std::string(kPluginsVersion), "Plugin"}; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return false; }
  std::string singular_name() const override { return "plugin"; }
  const TableConvertor& table_convertor() const override { return table_; }
  std::string list_kind() const override { return "PluginList"; }

  Task<Result<ObjectRef>> get(RequestContext&, std::string name, GetOptions) override {
    ObjectRef found = objects_->find(name);
    if (!found) co_return not_found(kPluginsGroup, "plugins", name);
    co_return found;
  }
  Task<Result<ListResult>> list(RequestContext&, ListOptions options) override {
    if (Status status = check_fields(options); !status.ok()) co_return status;
    auto all = objects_->list();
    std::erase_if(all.objects, [&](const ObjectRef& object) { return !selects(options, *object); });
    ListResult out;
    out.revision = all.revision;
    out.items = make_cursor(std::move(all.objects));
    co_return out;
  }
  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext&, ListOptions options) override {
    if (Status status = check_fields(options); !status.ok()) co_return status;
    co_return objects_->watch(options);
  }

 private:
  static Status check_fields(const ListOptions& options) {
    for (const auto& requirement : options.fields.requirements()) {
      if (requirement.field != "metadata.name")
        return bad_request(backplane::quoted(requirement.field) + " is not a known field selector: only \"metadata.name\"");
    }
    return {};
  }

  const std::shared_ptr<ComputedObjects> objects_;
  const Schema* const schema_;
  const ColumnTable table_ = plugin_table();
};

}  // namespace

std::string plugin_object_name(std::string_view plugin) {
  std::string out;
  for (std::size_t end = plugin.size();;) {
    const auto slash = plugin.substr(0, end).rfind('/');
    const std::size_t from = slash == std::string_view::npos ? 0 : slash + 1;
    out.append(out.empty() ? "" : ".").append(plugin.substr(from, end - from));
    if (slash == std::string_view::npos) break;
    end = slash;
  }
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!fits) c = '-';
  }
  return out;
}

Result<PluginObjects> PluginObjects::make(std::string registrant) {
  auto schemas = kit::embedded_schemas({plugins_v1alpha1_json()});
  if (!schemas.ok()) return std::move(schemas.status());
  const auto& types = schemas->front();
  PluginObjects out;
  out.objects_ = std::make_shared<ComputedObjects>("Plugin", kPluginsApiVersion);
  const GroupVersionKind kind{std::string(kPluginsGroup), std::string(kPluginsVersion), "Plugin"};
  APIGroupInfo group;
  group.group = kPluginsGroup;
  group.prioritized_versions = {std::string(kPluginsVersion)};
  group.storages[std::string(kPluginsVersion)]["plugins"] = std::make_shared<PluginResource>(out.objects_, types->find(kind));
  group.schemas[std::string(kPluginsVersion)] = types;
  DelegationTarget target;
  target.name = std::move(registrant);
  target.groups.push_back(std::move(group));
  target.watches = std::make_shared<OpenWatches>();
  out.target_ = std::make_shared<const DelegationTarget>(std::move(target));
  return out;
}

void PluginObjects::update(const std::vector<PluginStatus>& plugins, const std::function<HookProgress(const std::string& plugin)>& hooks) {
  std::map<std::string, Object> objects;
  for (const auto& plugin : plugins) {
    const std::string base = plugin_object_name(plugin.name);
    std::string name = base;
    for (int i = 2; objects.contains(name); ++i) name = base + "-" + std::to_string(i);
    Object object{{"kind", "Plugin"}, {"apiVersion", kPluginsApiVersion}};
    const ObjectIdentity& identity = identities_.try_emplace(name, ObjectIdentity{new_uid(), time_text(plugin.since)}).first->second;
    object["metadata"] = Object{{"name", name}, {"uid", identity.uid}, {"creationTimestamp", identity.time}};
    object["status"] = status_of(plugin, hooks(plugin.name));
    objects.emplace(std::move(name), std::move(object));
  }
  objects_->set(objects);
}

}  // namespace backplane
