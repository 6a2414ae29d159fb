// A plugin that calls the API. GET /caller/WAY?name=N creates, changes, watches and deletes the config map N, and returns the results.  WAY
// is "inside" (as system:apiserver), "visitor" (as a user without permissions), "http2" or "http1" (over TLS, with the kubeconfig in the
// environment variable BACKPLANE_CALLER_KUBECONFIG).
#include <backplane/core/query.hpp>
#include <backplane/core/request.hpp>
#include <backplane/net/client.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/audit.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/points/storage_transformer.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

using namespace backplane;

const GroupVersionResource kMaps{"", "v1", "configmaps"};

Object config_map(const std::string& name) {
  Object map;
  map["metadata"] = Object{{"name", name}, {"labels", Object{{"made-by", "caller"}}}};
  map["data"] = Object{{"k", "v"}};
  return map;
}

std::string outcome(const Result<Object>& result) {
  if (!result.ok()) return std::to_string(result.status().code()) + " " + std::string(reason_name(result.status().reason()));
  return std::string(meta_name(*result));
}

class Tour {
 public:
  Tour(std::shared_ptr<HttpClient> http, std::string name, Logger& logger)
      : api_(std::make_shared<ApiClient>(std::move(http))), name_(std::move(name)), logger_(logger) {}

  Task<Object> run() {
    ListOptions mine;
    mine.labels = *LabelSelector::parse("made-by=caller");
    auto opened = co_await api_->watch(kMaps, "default", mine);
    seen_["watch"] = opened.ok() ? "open" : std::string(reason_name(opened.status().reason()));
    auto made = co_await api_->create(kMaps, "default", config_map(name_));
    seen_["create"] = outcome(made);
    if (!made.ok()) {
      seen_["message"] = made.status().message();
      co_return seen_;
    }
    auto again = co_await api_->create(kMaps, "default", config_map(name_));
    seen_["create again"] = outcome(again);
    const Object patch{{"data", Object{{"patched", "yes"}}}};  // g++ 12 refuses nested lists inside a co_await expression
    auto labelled = co_await api_->patch(kMaps, "default", name_, PatchType::kMerge, patch);
    seen_["patch"] = labelled.ok() ? std::string(get_string_path(*labelled, "data.patched")) : outcome(labelled);
    Object changed = labelled.ok() ? *labelled : *made;
    changed["data"] = Object{{"updated", "yes"}};
    auto updated = co_await api_->update(kMaps, "default", changed);
    seen_["update"] = updated.ok() ? std::string(get_string_path(*updated, "data.updated")) : outcome(updated);
    auto stale = co_await api_->update(kMaps, "default", changed);
    seen_["stale update"] = outcome(stale);
    co_await page();
    co_await inform();
    auto gone = co_await api_->remove(kMaps, "default", name_);
    seen_["remove"] = gone.ok() ? std::string(get_string(*gone, "status")) : outcome(gone);
    auto missing = co_await api_->get(kMaps, "default", name_);
    seen_["get"] = outcome(missing);
    if (opened.ok()) co_await follow(*opened);
    co_return seen_;
  }

 private:
  // Lists all config maps of all namespaces, in pages of one object.
  Task<void> page() {
    ListOptions one;
    one.limit = 1;
    std::int64_t pages = 0;
    do {
      auto listed = co_await api_->list(kMaps, "", one);
      if (!listed.ok()) {
        seen_["pages"] = outcome(listed);
        co_return;
      }
      ++pages;
      one.continue_token = meta_text(*listed, "continue");
    } while (!one.continue_token.empty());
    seen_["pages"] = pages;
  }
  // Runs an informer with the same client.
  Task<void> inform() {
    auto informer = SharedInformer::make("maps", list_watch(api_, kMaps, "default"), logger_);
    spawn_detached(*current_executor(), informer->run());
    const bool synced = co_await informer->wait_synced();
    seen_["informer"] = synced && informer->indexer().get("default/" + name_) != nullptr ? "has it" : "misses it";
    informer->stop();
  }
  Task<void> follow(std::shared_ptr<WatchStream> stream) {
    std::string types;
    while (types.find('-') == std::string::npos) {
      auto events = co_await stream->next();
      if (!events.ok() || events->empty()) break;
      for (const WatchEvent& event : *events) {
        if (event.object->name() != name_) continue;
        types += event.type == EventType::kAdded ? '+' : event.type == EventType::kModified ? '~' : '-';
      }
    }
    stream->cancel();
    seen_["events"] = types;
  }

  const std::shared_ptr<ApiClient> api_;
  const std::string name_;
  Logger& logger_;
  Object seen_;
};

class Caller final : public HttpHandler {
 public:
  explicit Caller(Host& host) : host_(host) {}
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    auto client = client_for(context.info.path.substr(context.info.path.rfind('/') + 1));
    Object answer;
    if (client.ok()) {
      const std::string target(exchange.target());
      Tour tour(*client, target.substr(target.rfind('=') + 1), host_.logger());
      answer = co_await tour.run();
    } else {
      answer["error"] = client.status().message();
    }
    std::vector<SharedBytes> body;
    body.emplace_back(to_json(answer) + "\n");
    co_await exchange.respond(200, "application/json", std::move(body));
  }

 private:
  Result<std::shared_ptr<HttpClient>> client_for(const std::string& way) {
    if (way == "inside") return host_.client();
    if (way == "visitor") {
      UserInfo user;
      user.name = "visitor";
      user.groups = {"system:authenticated"};
      return host_.client_as(std::move(user));
    }
    const char* path = std::getenv("BACKPLANE_CALLER_KUBECONFIG");
    std::ifstream file(path != nullptr ? path : "");
    auto config = client_config_from_kubeconfig(std::string(std::istreambuf_iterator<char>(file), {}));
    if (!config.ok()) return std::move(config).status();
    config->http2 = way == "http2";
    return host_.make_client(std::move(*config));
  }

  Host& host_;
};

class CallerPlugin final : public Plugin {
  Status provision(Host& host) override { return host.handle({"/caller/", true, true, std::make_shared<Caller>(host)}); }
};

}  // namespace

BACKPLANE_PLUGIN(CallerPlugin)
