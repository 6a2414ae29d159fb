#include "setup.hpp"

#include "backplane/types/base64.hpp"
#include "ciphers/cipher.hpp"

namespace backplane::encryption {
namespace {

using MakeCipher = Outcome<CipherRef> (*)(std::string_view key);

Outcome<ProviderSteps> keyed_steps(const std::vector<KeyConfiguration>& keys, MakeCipher make, std::string prefix, std::string no_match) {
  ProviderSteps out;
  out.prefix = std::move(prefix);
  out.no_match = std::move(no_match);
  for (const KeyConfiguration& key : keys) {
    auto bytes = from_base64(key.secret.view());
    if (!bytes) return Failure{"could not obtain secret for named key " + key.name};
    auto cipher = make(*bytes);
    OPENSSL_cleanse(bytes->data(), bytes->size());
    if (!cipher.ok()) return Failure{"error while creating cipher for named key " + key.name + ": " + cipher.failure().text};
    out.keys.push_back({key.name + ":", cipher_step(std::move(*cipher))});
  }
  return out;
}

// Makes the providers of a configuration.
class SetupMaker {
 public:
  SetupMaker(Host& host, const SetupContext& context, Setup& setup) : host_(host), context_(context), setup_(setup) {}

  Outcome<Transformers::Providers> steps_of(const ResourceConfiguration& entry) {
    Transformers::Providers out;
    for (const ProviderConfiguration& provider : entry.providers) {
      auto steps = steps_of(provider);
      if (!steps.ok()) return steps.take_failure();
      out.push_back(std::move(*steps));
    }
    return out;
  }

 private:
  Outcome<ProviderSteps> steps_of(const ProviderConfiguration& provider) {
    constexpr std::string_view kNoAesKey = "no matching key was found for the provided AES transformer";
    constexpr std::string_view kNoSecretboxKey = "no matching key was found for the provided Secretbox transformer";
    if (provider.aes_gcm) return keyed_steps(*provider.aes_gcm, &make_aes_gcm, "k8s:enc:aesgcm:v1:", std::string(kNoAesKey));
    if (provider.aes_cbc) return keyed_steps(*provider.aes_cbc, &make_aes_cbc, "k8s:enc:aescbc:v1:", std::string(kNoAesKey));
    if (provider.secretbox) {
      return keyed_steps(*provider.secretbox, &make_secretbox, "k8s:enc:secretbox:v1:", std::string(kNoSecretboxKey));
    }
    if (provider.kms) return kms_steps(*provider.kms);
    return ProviderSteps{{}, identity_step(), {}, {}};
  }

  Outcome<ProviderSteps> kms_steps(const KmsConfiguration& kms) {
    const bool v1 = kms.api_version == "v1";
    if (v1 && host_.flag("feature-gates.KMSv1") != "true") {
      return Failure{
          "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to "
          "use the deprecated KMSv1 feature."};
    }
    if (v1) host_.logger().warn("KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.");
    const KmsSettings settings{kms.name, kms.endpoint, kms.timeout, kms.cache_size.value_or(0)};
    auto provider = v1 ? make_kms_v1_provider(host_, settings) : make_kms_v2_provider(host_, settings, context_.server_id_hash);
    if (!provider.ok()) {
      return Failure{std::string("could not configure ") + (v1 ? "KMSv1" : "KMSv2") + "-Plugin's probe " + backplane::quoted(kms.name) +
                     ", error: " + provider.failure().text};
    }
    setup_.kms.push_back(*provider);
    (v1 ? setup_.uses_kms_v1 : setup_.uses_kms_v2) = true;
    // A check of version 1 is two calls.
    setup_.grace += 2 * (v1 ? 2 : 1) * kms.timeout;
    return ProviderSteps{(v1 ? "k8s:enc:kms:v1:" : "k8s:enc:kms:v2:") + kms.name + ":", std::move(*provider), {}, {}};
  }

  Host& host_;
  const SetupContext& context_;
  Setup& setup_;
};

Failure building(const Failure& failure) { return Failure{"error while building transformers: " + failure.text}; }

}  // namespace

Task<Outcome<Done>> Setup::check() const {
  std::vector<Failure> errors;
  for (std::size_t i = 0; i < kms.size(); ++i) {
    auto checking = kms[i]->check();
    const auto checked = co_await std::move(checking);
    if (!checked.ok()) errors.push_back({"kms-provider-" + std::to_string(i) + ": " + checked.failure().text});
  }
  if (errors.empty()) co_return Done();
  co_return Failure{joined_errors(errors)};
}

Outcome<SetupRef> make_setup(Host& host, const SetupContext& context, std::string_view text) {
  auto configuration = read_configuration(text, context.path, context.reload);
  if (!configuration.ok()) return Failure{"error while parsing file: " + configuration.status().message()};
  auto setup = std::make_shared<Setup>();
  setup->hash = hash_text(text);
  auto transformers = std::make_shared<Transformers>(context.storage_root);
  SetupMaker maker(host, context, *setup);
  for (const ResourceConfiguration& entry : configuration->resources) {
    auto providers = maker.steps_of(entry);
    if (!providers.ok()) return building(providers.failure());
    for (const std::string& resource : entry.resources) {
      if (auto added = transformers->add(resource, *providers); !added.ok()) return building(added.failure());
    }
  }
  setup->transformers = std::move(transformers);
  return SetupRef(std::move(setup));
}

}  // namespace backplane::encryption
