// The group stock.example.com in C++, over the stable tier: the same as ../stable-c, and one of each other extension point: a path, a
// health check, hooks, an authenticator, an authorizer and an audit sink.
#include <backplane/stable/plugin.hpp>

#include <atomic>

using namespace backplane::stable;

BP_EMBED(stock_group, "group.json", "group.json")
BP_EMBED(stock_types, "types.json", "types.json")

constexpr Resource kShelves{"stock.example.com", "v1", "shelves"}, kBoxes{"stock.example.com", "v1", "boxes"};

// "namespace/shelf" of a box.
std::string shelf_of(const Json& box) {
  return std::string(box.string("/metadata/namespace")) + "/" + std::string(box.string("/spec/shelf"));
}

void check_shelf(const Json& shelf, FieldErrors& errors) {
  const auto slots = shelf.integer("/spec/slots"), reserved = shelf.integer("/spec/reserved");
  if (reserved > slots) errors.invalid("spec.reserved", reserved, "must not be more than the " + std::to_string(slots) + " slots");
}

class Stock final : public Plugin {
  void provision(Host& host) override {
    install_group(host, view(BP_EMBEDDED(stock_group)), {view(BP_EMBEDDED(stock_types))}, {{.kind = "Shelf", .check = check_shelf}});
    shelves_ = Informer(host, kShelves);
    boxes_ = Informer(host, kBoxes);
    add_rule(host);
    add_controller(host, {.name = "stock",
                          .watches = {{shelves_}, {boxes_, [](const Json& box) { return std::vector{shelf_of(box)}; }}},
                          .reconcile = [this, &host](const std::string& key, Queue&) { count_boxes(host, key); }});
    add_other_points(host);
  }

  void add_rule(Host& host) {
    add_admission(host, {.name = "StockBoxes",
                         .matches = {{.group = "stock.example.com", .resource = "boxes"}},
                         .admit = [](const Write&, Json& box) { box.set("/metadata/labels/shelf", box.string("/spec/shelf")); },
                         .validate =
                             [this](const Write&, const Json& box) {
                               if (!shelves_.get(shelf_of(box))) throw Error("there is no shelf " + shelf_of(box));
                             }});
  }

  void count_boxes(const Host& host, const std::string& key) const {
    if (!shelves_.get(key)) return;  // it has been deleted, or a box names none
    long count = 0;
    boxes_.each([&](std::string_view, const Json& box) { count += shelf_of(box) == key; });
    const auto slash = key.find('/');
    Client(host).patch(kShelves, key.substr(0, slash), key.substr(slash + 1), R"({"status":{"boxes":)" + std::to_string(count) + "}}",
                       "status");
  }

  void add_other_points(Host& host) {
    add_path(host, {.path = "/stock", .handle = [this](const Request& request) { return report(request); }, .max_body = 1024});
    add_check(host, "stock", [this] {
      if (!shelves_.synced()) throw Error("the shelves have not been read");
    });
    add_post_start(host, "stock/started", [this] { started_ = true; });
    add_pre_shutdown(host, "stock/done", [&host] { host.log(BP_LOG_INFO, "the stock is closed"); });
    add_authenticator(host, {.name = "stock", .authenticate = [](std::string_view token) -> std::optional<User> {
                               if (!token.starts_with("stock-")) return std::nullopt;
                               if (token != "stock-keeper") throw Error("this is no keeper");
                               return User{.name = "keeper", .groups = {"stock"}};
                             }});
    add_authorizer(host, {.name = "Stock",
                          .decide =
                              [](const bp_access& access) {
                                const bool keeper = view(access.user->name) == "keeper", theirs = view(access.group) == "stock.example.com";
                                return keeper && theirs ? Answer{BP_ALLOW, "keepers may"} : Answer{};
                              },
                          .flags = BP_BLOCKING});
    add_audit_sink(host, {.name = "stock",
                          .write =
                              [this, &host](const std::vector<std::string_view>& events) {
                                for (const std::string_view event : events) {
                                  refused_ += Json(host, event).integer("/responseStatus/code") == 403 ? 1 : 0;
                                }
                              },
                          .flush = [this, &host] { host.log(BP_LOG_INFO, std::to_string(refused_) + " requests were refused"); },
                          .omit_stages = BP_AUDIT_REQUEST_RECEIVED});
  }

  Response report(const Request& request) const {
    if (request.method() == "DELETE") throw Error("the stock stays", "Forbidden");
    std::size_t count = 0;
    boxes_.each([&](std::string_view, const Json&) { ++count; });
    return {.body = std::to_string(count) + " boxes, " + (started_ ? "open" : "closed") + ", " + std::string(request.body()) + "\n"};
  }

  Informer shelves_, boxes_;
  long refused_ = 0;  // of the audit sink's thread
  std::atomic<bool> started_{false};
};
BACKPLANE_STABLE_PLUGIN(Stock, "plugin.json")
