// A StorageTransformer for ConfigMaps and the custom resource "vaults". It runs on the plugin's executor and adds a nonce to each value.
//   SEALER_KEYS=k1,k2        an environment variable: the keys; values are written with the last one
//   PUT /sealer?keys=k1,k2   replaces the keys of the running server
//   POST /sealer?to=GROUP/VERSION/KIND   returns the object of the body in that version (Host::convert)
#include <algorithm>
#include <atomic>
#include <backplane/core/query.hpp>
#include <backplane/core/request.hpp>
#include <backplane/plugin.hpp>
#include <backplane/points/audit.hpp>
#include <backplane/points/hooks.hpp>
#include <backplane/points/http.hpp>
#include <backplane/points/paths.hpp>
#include <backplane/points/storage_transformer.hpp>
#include <backplane/types/schema.hpp>
#include <cstdlib>

namespace {

using namespace backplane;

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// The transformer. A stored value is "key:nonce:storage key:bytes", with the bytes in reverse order.
class Seal final : public StorageTransformer {
 public:
  Seal(Executor& executor, std::vector<std::string> keys) : executor_(executor), keys_(std::move(keys)) {}

  Task<Result<SharedBytes>> to_storage(std::string key, SharedBytes bytes) const override {
    co_await resume_on(executor_);
    std::string text(bytes.view());
    std::reverse(text.begin(), text.end());
    co_return SharedBytes(keys_.back() + ":" + std::to_string(++nonces_) + ":" + key + ":" + text);
  }
  Task<Result<Plain>> from_storage(std::string key, SharedBytes bytes) const override {
    co_await resume_on(executor_);
    const std::string_view all = bytes.view();
    // The value was written before the transformer was registered.
    if (all.starts_with('{')) co_return Plain{bytes, true};
    const std::string by(all.substr(0, all.find(':')));
    if (std::find(keys_.begin(), keys_.end(), by) == keys_.end()) co_return internal_error("no key " + by);
    const std::size_t begin = all.find(":" + key + ":");
    if (begin == std::string_view::npos) co_return internal_error("sealed for another key");
    std::string text(all.substr(begin + key.size() + 2));
    std::reverse(text.begin(), text.end());
    co_return Plain{SharedBytes(std::move(text)), by != keys_.back()};
  }

 private:
  Executor& executor_;
  const std::vector<std::string> keys_;
  mutable std::atomic<std::uint64_t> nonces_{0};
};

class Seals final : public StorageTransformers {
 public:
  explicit Seals(std::shared_ptr<const StorageTransformer> seal) : seal_(std::move(seal)) {}
  std::shared_ptr<const StorageTransformer> find(const GroupResource& resource) const override {
    return resource.resource == "configmaps" || resource.resource == "vaults" ? seal_ : nullptr;
  }

 private:
  const std::shared_ptr<const StorageTransformer> seal_;
};

Status use_keys(Host& host, std::string_view keys) {
  auto seal = std::make_shared<Seal>(host.executor("seal"), split(keys, ','));
  return host.set_storage_transformers(std::make_shared<Seals>(std::move(seal)));
}

Task<void> say(Exchange& exchange, int code, std::string text) {
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, "application/json", std::move(body));
}

class Control final : public HttpHandler {
 public:
  explicit Control(Host& host) : host_(host) {}

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    const std::string_view target = exchange.target();
    auto query = parse_query(target.substr(target.find('?') + 1));
    Result<std::string> text = bad_request("a query must be given");
    if (query.ok() && exchange.method() == "PUT") {
      Status used = use_keys(host_, query_get(*query, "keys"));
      text = used.ok() ? Result<std::string>(std::string("{}")) : Result<std::string>(used);
    } else if (query.ok()) {
      auto converting = converted(exchange, std::string(query_get(*query, "to")));
      text = co_await std::move(converting);
    }
    const int code = text.ok() ? 200 : text.status().code();
    std::string body = text.ok() ? std::move(*text) : text.status().message();
    co_await say(exchange, code, std::move(body));
  }

 private:
  Task<Result<std::string>> converted(Exchange& exchange, std::string to) {
    std::string body;
    for (bool more = true; more;) {
      auto some = co_await exchange.read_body_some();
      if (!some.ok()) co_return std::move(some.status());
      more = !some->empty();
      body += *some;
    }
    auto tree = parse_json(body, {}, nullptr);
    if (!tree.ok()) co_return std::move(tree.status());
    const auto words = split(to, '/');
    GroupVersionKind kind{words.at(0), words.at(1), words.at(2)};
    auto converting = host_.convert(std::move(kind), std::move(tree->get_object()));
    auto object = co_await std::move(converting);
    if (!object.ok()) co_return std::move(object.status());
    co_return to_json(*object);
  }

  Host& host_;
};

class Sealer final : public Plugin {
 public:
  Status provision(Host& host) override {
    const char* keys = std::getenv("SEALER_KEYS");
    Status status = use_keys(host, keys != nullptr ? keys : "k1");
    if (status.ok()) status = host.handle({"/sealer", false, false, std::make_shared<Control>(host)});
    return status;
  }
};

}  // namespace

BACKPLANE_PLUGIN(Sealer)
