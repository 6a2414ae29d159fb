#include "app/extension/outer_trust.hpp"

#include <array>
#include <filesystem>

#include "backplane/core/json_access.hpp"
#include "backplane/net/informer.hpp"
#include "backplane/types/json_reading.hpp"
#include "transport/certificates.hpp"

namespace backplane {
namespace {

const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};

struct TrustFile {
  std::string_view key, file;
};
// The key is also the name of the flag.
constexpr std::array<TrustFile, 2> kFiles = {{{"requestheader-client-ca-file", "front-proxy-ca.crt"}, {"client-ca-file", "client-ca.crt"}}};
constexpr std::array<std::string_view, 5> kLists = {"requestheader-allowed-names", "requestheader-username-headers",
                                                    "requestheader-uid-headers", "requestheader-group-headers",
                                                    "requestheader-extra-headers-prefix"};

std::string path_in(const std::string& dir, std::string_view file) { return dir + "/" + std::string(file); }

// Lists and watches the ConfigMap kTrustName for an informer. The field selector is necessary, because the Role of the outer server grants
// access to this name only.
class TrustSource final : public ListerWatcher {
 public:
  explicit TrustSource(std::shared_ptr<ApiClient> outer)
      : source_(list_watch(std::move(outer), kConfigMaps, std::string(kTrustNamespace))) {}
  Task<Result<Page>> list(ListOptions options) override { return source_->list(narrowed(std::move(options))); }
  Task<Result<std::shared_ptr<WatchStream>>> watch(ListOptions options) override { return source_->watch(narrowed(std::move(options))); }

 private:
  static ListOptions narrowed(ListOptions options) {
    options.fields = *FieldSelector::parse("metadata.name=" + std::string(kTrustName));
    return options;
  }
  const std::shared_ptr<ListerWatcher> source_;
};

Object data_of(const ObjectRef& map) { return object_or_empty(decode(*map, {}), "data"); }

bool has_other_names(const Object& one, const Object& other) {
  for (const std::string_view key : kLists) {
    if (get_string(one, key) != get_string(other, key)) return true;
  }
  return false;
}

}  // namespace

Status write_trust(const std::string& dir, const Object& data) {
  for (const TrustFile& row : kFiles) {
    const std::string path = path_in(dir, row.file);
    const std::string_view pem = get_string(data, row.key);
    auto present = read_file(path);
    if (pem.empty() || (present.ok() && *present == pem)) continue;
    if (Status status = write_file_atomically(path, pem, 0600); !status.ok()) return status;
  }
  return {};
}

Result<std::vector<std::string>> trust_flags(const std::string& dir, const Object& data) {
  std::vector<std::string> flags;
  for (const TrustFile& row : kFiles) {
    if (!get_string(data, row.key).empty()) flags.push_back("--" + std::string(row.key) + "=" + path_in(dir, row.file));
  }
  if (get_string(data, kFiles[0].key).empty()) return flags;
  for (const std::string_view key : kLists) {
    const std::string_view text = get_string(data, key);
    const auto list = read_json(text.empty() ? "[]" : text);
    if (!list || !list->is_array()) {
      return bad_request(std::string(kTrustNamespace) + "/" + std::string(kTrustName) + ": " + std::string(key) + " is not a JSON list");
    }
    for (const Value& each : list->get_array()) {
      if (each.is_string()) flags.push_back("--" + std::string(key) + "=" + std::string(each.get_string()));
    }
  }
  return flags;
}

void follow_trust(std::shared_ptr<ApiClient> outer, std::string dir, Logger& logger, Executor& executor, TaskGroup& tasks, Signal& stop) {
  auto informer = SharedInformer::make(std::string(kTrustName), std::make_shared<TrustSource>(std::move(outer)), logger);
  ResourceEventHandler handler;
  const auto take = [dir, &logger](const ObjectRef& object) {
    const Status written = write_trust(dir, data_of(object));
    if (!written.ok())
      logger.error("the certificates of front proxies and clients cannot be written error=" + backplane::quoted(written.message()));
  };
  handler.on_add = [take](const ObjectRef& object, bool) { take(object); };
  handler.on_update = [take, &logger](const ObjectRef& old, const ObjectRef& now) {
    take(now);
    if (has_other_names(data_of(old), data_of(now))) {
      logger.warn("the names of request headers or front proxies have changed on the outer server: restart this program to use them");
    }
  };
  informer->add_event_handler(std::move(handler));
  tasks.spawn(executor, "trust of the outer server", informer->run());
  stop.on_fire([informer] { informer->stop(); });
}

}  // namespace backplane
