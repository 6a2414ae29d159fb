// A plugin that requires the plugin of gadgets.cpp, or another follower. It holds the storage of gadgets, as a plugin does that reads the
// objects of another plugin. The macro FOLLOWER is its name; GET /FOLLOWER returns the name of the gadget "g".
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/rest/roles.hpp>

namespace {

using namespace backplane;

constexpr std::string_view kName = FOLLOWER;

class ShowGadget final : public HttpHandler {
 public:
  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    int code = 503;
    std::string text = "the storage of gadgets was not found";
    if (gadgets_ != nullptr) {
      auto getting = gadgets_->get(context, "g", {});
      auto found = co_await std::move(getting);
      code = found.ok() ? 200 : 500;
      text = found.ok() ? std::string((*found)->name()) : found.status().message();
    }
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(text));
    auto responding = exchange.respond(code, "text/plain", std::move(body));
    co_await std::move(responding);
  }
  void use(std::shared_ptr<Getter> gadgets) { gadgets_ = std::move(gadgets); }

 private:
  std::shared_ptr<Getter> gadgets_;
};

class Follower final : public Plugin {
 public:
  Status provision(Host& host) override {
    host_ = &host;
    Status status = host.handle({"/" + std::string(kName), false, false, handler_});
    if (status.ok()) status = host.add_post_start_hook(std::string(kName), [this](PostStartHookContext) { return start(); });
    if (status.ok()) status = host.add_pre_shutdown_hook(std::string(kName), [this] { return finish(); });
    return status;
  }

 private:
  Task<Status> start() {
    handler_->use(shared_role_of<Getter>(host_->find_storage({"test.example.com", "v1", "gadgets"})));
    host_->logger().info(std::string(kName) + " has started");
    co_return Status();
  }
  Task<Status> finish() {
    host_->logger().info(std::string(kName) + " has finished");
    co_return Status();
  }

  Host* host_ = nullptr;
  const std::shared_ptr<ShowGadget> handler_ = std::make_shared<ShowGadget>();
};

}  // namespace

BACKPLANE_PLUGIN(Follower)
