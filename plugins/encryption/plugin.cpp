// The plugin `encryption`: encryption of stored objects, by the file of --encryption-provider-config.
#include "backplane/plugin.hpp"

#include <openssl/crypto.h>

#include "backplane/core/json.hpp"
#include "backplane/kit/server_identity.hpp"
#include "backplane/kit/watched_file.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"
#include "metrics.hpp"
#include "reloader.hpp"

namespace backplane::encryption {
namespace {

constexpr std::string_view kReloadHook = "start-encryption-provider-config-automatic-reload";
constexpr HealthEndpoints kNotLive = {.healthz = true, .livez = false, .readyz = true};

Status as_status(const Failure& failure) { return bad_request(failure.text); }

// "/registry" for "registry/".
std::string storage_root(const Host& host) {
  const std::string flag = host.flag("etcd-prefix").value_or("");
  const std::size_t begin = flag.find_first_not_of('/');
  if (begin == std::string::npos) return std::string(kStorageKeyRoot);
  return "/" + flag.substr(begin, flag.find_last_not_of('/') + 1 - begin);
}

// Checks all KMS plugins of the configuration in use.
class AllKmsHealth final : public HealthCheck {
 public:
  explicit AllKmsHealth(std::shared_ptr<const Reloader> reloader) : reloader_(std::move(reloader)) {}
  std::string name() const override { return "kms-providers"; }
  Task<Status> check() override {
    const SetupRef setup = reloader_->current();
    auto checking = setup->check();
    const auto checked = co_await std::move(checking);
    co_return checked.ok() ? Status() : checked.failure().status();
  }

 private:
  const std::shared_ptr<const Reloader> reloader_;
};

class OneKmsHealth final : public HealthCheck {
 public:
  OneKmsHealth(std::size_t index, KmsProviderRef kms) : name_("kms-provider-" + std::to_string(index)), kms_(std::move(kms)) {}
  std::string name() const override { return name_; }
  Task<Status> check() override {
    auto checking = kms_->check();
    const auto checked = co_await std::move(checking);
    co_return checked.ok() ? Status() : checked.failure().status();
  }

 private:
  const std::string name_;
  const KmsProviderRef kms_;
};

// GET /debug/store/encryption: the encrypted resources, for `backplane store reencrypt`.
class EncryptedResources final : public HttpHandler {
 public:
  explicit EncryptedResources(std::shared_ptr<const Reloader> reloader) : reloader_(std::move(reloader)) {}
  Task<void> handle(RequestContext&, Exchange& exchange) override {
    const SetupRef setup = reloader_->current();
    Array resources;
    for (const std::string& each : setup->transformers->resources()) resources.emplace_back(each);
    std::vector<SharedBytes> body;
    body.emplace_back(json::serialize(Object{{"hash", setup->hash}, {"resources", std::move(resources)}}) + "\n");
    co_await exchange.respond(200, "application/json", std::move(body));
  }

 private:
  const std::shared_ptr<const Reloader> reloader_;
};

class EncryptionPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    expose_metrics();
    SetupContext context;
    context.path = host.flag("encryption-provider-config").value_or("");
    if (context.path.empty()) return {};
    context.reload = host.flag("encryption-provider-config-automatic-reload") == "true";
    context.storage_root = storage_root(host);
    context.server_id_hash = hash_text(kit::server_id(kit::host_name()));
    auto text = kit::read_bounded_file(context.path);
    if (!text.ok()) {
      return bad_request("error while parsing file: error while loading file: error reading encryption provider configuration file " +
                         backplane::quoted(context.path) + ": " + text.status().message());
    }
    auto setup = make_setup(host, context, *text);
    OPENSSL_cleanse(text->data(), text->size());
    if (!setup.ok()) return as_status(setup.failure());
    return use(host, std::move(context), std::move(*setup));
  }

 private:
  static Status use(Host& host, SetupContext context, SetupRef setup) {
    const bool reload = context.reload;
    const auto reloader = std::make_shared<Reloader>(host, std::move(context), setup);
    Status status = host.set_storage_transformers(setup->transformers);
    if (status.ok()) status = add_checks(host, *setup, reload, reloader);
    if (status.ok()) status = host.handle({"/debug/store/encryption", false, false, std::make_shared<EncryptedResources>(reloader)});
    if (!status.ok() || !reload) return status;
    return host.add_post_start_hook(std::string(kReloadHook), [&host, reloader](PostStartHookContext) {
      host.spawn("encryption configuration", follow(reloader));
      return started();
    });
  }

  static Status add_checks(Host& host, const Setup& setup, bool reload, const std::shared_ptr<const Reloader>& reloader) {
    if (reload || (setup.uses_kms_v2 && !setup.uses_kms_v1))
      return host.add_health_check(std::make_shared<AllKmsHealth>(reloader), kNotLive);
    for (std::size_t i = 0; i < setup.kms.size(); ++i) {
      Status status = host.add_health_check(std::make_shared<OneKmsHealth>(i, setup.kms[i]), kNotLive);
      if (!status.ok()) return status;
    }
    return {};
  }

  static Task<Status> started() { co_return Status(); }
  static Task<void> follow(std::shared_ptr<Reloader> reloader) {
    auto following = reloader->follow();
    co_await std::move(following);
  }
};

}  // namespace
}  // namespace backplane::encryption

BACKPLANE_PLUGIN(backplane::encryption::EncryptionPlugin)
