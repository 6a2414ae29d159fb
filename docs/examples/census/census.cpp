// Counts the config maps of each team, at /census and in the config map default/census: an informer caches them, an index finds those of
// a team, a work queue holds the teams to count again, and an API client writes the report.
#include <backplane/controller.hpp>
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/paths.hpp>

#include <algorithm>
#include <map>
#include <mutex>

using namespace backplane;

const GroupVersionResource kMaps{"", "v1", "configmaps"};

// The index: the value of the label "team".
std::vector<std::string> teams_of(const ObjectEntry& object) {
  std::vector<std::string> teams;
  if (const auto team = object.labels().find("team")) teams.emplace_back(*team);
  return teams;
}

class Census final : public HttpHandler {
 public:
  Census(std::shared_ptr<SharedInformer> maps, std::shared_ptr<HttpClient> client) : maps_(std::move(maps)), api_(std::move(client)) {}

  // One key of the queue: a team.
  Task<Status> count(std::string team) {
    auto found = maps_->indexer().by_index("team", team);
    if (!found.ok()) co_return std::move(found).status();
    const auto number = static_cast<std::int64_t>(found->size());
    {
      std::lock_guard lock(mutex_);
      counts_[team] = number;
    }
    Status reported = co_await report(std::move(team), number);
    co_return reported;
  }

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    Object answer;
    {
      std::lock_guard lock(mutex_);
      for (const auto& [team, number] : counts_) answer[team] = number;
    }
    std::vector<SharedBytes> body;
    body.emplace_back(to_json(answer) + "\n");
    co_await exchange.respond(maps_->has_synced() ? 200 : 503, "application/json", std::move(body));
  }

 private:
  Task<Status> report(std::string team, std::int64_t number) {
    Object census;
    census["data"] = Object{{team, std::to_string(number)}};
    auto patched = co_await api_.patch(kMaps, "default", "census", PatchType::kMerge, census);
    if (patched.ok()) co_return Status();
    if (patched.status().reason() != Reason::kNotFound) co_return std::move(patched).status();
    census["metadata"] = Object{{"name", "census"}};
    auto made = co_await api_.create(kMaps, "default", census);
    if (!made.ok()) co_return std::move(made).status();
    co_return Status();
  }

  std::shared_ptr<SharedInformer> maps_;
  ApiClient api_;
  std::mutex mutex_;
  std::map<std::string, std::int64_t> counts_;
};

class CensusPlugin final : public Plugin {
  Status provision(Host& host) override {
    informers_ = std::make_unique<SharedInformerFactory>(host);
    auto maps = informers_->for_resource(kMaps);
    Status indexed = maps->indexer().add_indexers({{"team", teams_of}});
    if (!indexed.ok()) return indexed;
    auto queue = std::make_shared<WorkQueue>(host.executor());
    const auto note = [queue](const ObjectRef& object) {
      for (const std::string& team : teams_of(*object)) queue->add(team);
    };
    ResourceEventHandler handler;
    handler.on_add = [note](const ObjectRef& object, bool) { note(object); };
    handler.on_update = [note](const ObjectRef& old, const ObjectRef& now) { note(old), note(now); };
    handler.on_delete = [note](const ObjectRef& last, bool) { note(last); };
    maps->add_event_handler(std::move(handler));
    auto census = std::make_shared<Census>(maps, host.client());
    Status hooked = host.add_post_start_hook(
        "census/start", [this, &host, queue, census](PostStartHookContext context) { return start(host, queue, census, context); });
    if (!hooked.ok()) return hooked;
    return host.handle({"/census", false, true, census});
  }

  Task<Status> start(Host& host, std::shared_ptr<WorkQueue> queue, std::shared_ptr<Census> census, PostStartHookContext context) {
    context.stop.on_fire([queue] { queue->shut_down(); });
    informers_->start();
    const bool synced = co_await informers_->wait_for_cache_sync();
    if (!synced) co_return Status();
    spawn_workers(host, "census", 2, queue, [census](std::string team) { return census->count(std::move(team)); });
    co_return Status();
  }

  std::unique_ptr<SharedInformerFactory> informers_;
};
BACKPLANE_PLUGIN(CensusPlugin)
