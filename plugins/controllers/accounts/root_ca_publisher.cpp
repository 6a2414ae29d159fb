#include "accounts/controllers.hpp"
#include "backplane/kit/watched_file.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kMapName = "kube-root-ca.crt";
constexpr std::string_view kDataKey = "ca.crt";
constexpr std::string_view kDescriptionKey = "kubernetes.io/description";
constexpr std::string_view kDescription =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or "
    "kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";
constexpr int kPublishWorkers = 1;

GroupVersionResource config_maps() { return {"", "v1", "configmaps"}; }

// The keys of the queue are names of namespaces.
struct RootCaPublisher {
  ApiClient api;
  std::shared_ptr<SharedInformer> maps;
  std::string root_ca;

  Task<Status> reconcile(std::string ns) {
    const ObjectRef known = maps->indexer().get(object_key(ns, kMapName));
    if (known == nullptr) {
      auto made = co_await api.create(config_maps(), ns, wanted());
      if (made.ok() || made.status().code() == 404 || is_namespace_terminating(made.status())) co_return Status();
      if (made.status().reason() != Reason::kAlreadyExists) co_return std::move(made).status();
      co_return Status();
    }
    Object map = decode(*known, json::storage_ptr());
    const Object data{{kDataKey, root_ca}};
    const Object& annotations = object_or_empty(object_or_empty(map, "metadata"), "annotations");
    if (object_or_empty(map, "data") == data && !get_string(annotations, kDescriptionKey).empty()) co_return Status();
    map["data"] = data;
    ObjectMeta(map).mutable_annotations()[kDescriptionKey] = kDescription;
    auto written = co_await api.update(config_maps(), ns, std::move(map));
    if (!written.ok() && written.status().code() != 404) co_return std::move(written).status();
    co_return Status();
  }

  Object wanted() const {
    Object map;
    map["metadata"] = Object{{"name", kMapName}, {"annotations", Object{{kDescriptionKey, kDescription}}}};
    map["data"] = Object{{kDataKey, root_ca}};
    return map;
  }
};

}  // namespace

Result<std::string> read_root_ca(const Host& host) {
  const std::string named = host.flag("root-ca-file").value_or("");
  if (!named.empty()) return kit::read_bounded_file(named);
  if (!host.flag("tls-cert-file").value_or("").empty()) {
    return bad_request("--root-ca-file: must be set if --tls-cert-file is");
  }
  return kit::read_bounded_file(host.flag("data-dir").value_or("") + "/pki/ca.crt");
}

Status start_root_ca_publisher(const Context& context) {
  auto root_ca = read_root_ca(context.host);
  if (!root_ca.ok()) return std::move(root_ca).status();
  const auto namespaces = context.term->informer({"", "v1", "namespaces"});
  const auto maps = context.term->informer(config_maps());
  const auto queue = context.term->queue();
  ResourceEventHandler namespace_changes;
  namespace_changes.on_add = [queue](const ObjectRef& ns, bool) { queue->add(std::string(ns->name())); };
  namespace_changes.on_update = [queue](const ObjectRef&, const ObjectRef& ns) { queue->add(std::string(ns->name())); };
  context.term->handle(namespaces, std::move(namespace_changes));
  const auto note = [queue](const ObjectRef& map) {
    if (map->name() == kMapName) queue->add(std::string(map->ns()));
  };
  ResourceEventHandler map_changes;
  map_changes.on_update = [note](const ObjectRef&, const ObjectRef& map) { note(map); };
  map_changes.on_delete = [note](const ObjectRef& map, bool) { note(map); };
  context.term->handle(maps, std::move(map_changes));
  const auto controller = std::make_shared<RootCaPublisher>(RootCaPublisher{context.api, maps, std::move(*root_ca)});
  context.work(queue, kPublishWorkers, [controller](std::string ns) { return controller->reconcile(std::move(ns)); }, {namespaces, maps});
  return {};
}

}  // namespace backplane::controllers
