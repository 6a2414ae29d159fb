#include "transformers.hpp"

#include "backplane/points/storage.hpp"

namespace backplane::encryption {
namespace {

constexpr std::string_view kAny = "*";

// Formats a resource like upstream prints it.
std::string config_text(std::string_view group, std::string_view resource) {
  if (group.empty()) return std::string(resource == kAny ? "*." : resource);
  return std::string(resource).append(".").append(group);
}

// Implements the host's interface StorageTransformer by the steps of one resource.
class ResourceTransformer final : public StorageTransformer {
 public:
  ResourceTransformer(StepRef root, std::string storage_root) : root_(std::move(root)), storage_root_(std::move(storage_root)) {}

  Task<Result<SharedBytes>> to_storage(std::string key, SharedBytes bytes) const override {
    const StepRef root = root_;
    auto writing = root->write(bound_to(key), std::move(bytes), {});
    auto outcome = co_await std::move(writing);
    co_return result(std::move(outcome));
  }
  Task<Result<Plain>> from_storage(std::string key, SharedBytes bytes) const override {
    const StepRef root = root_;
    auto reading = root->read(bound_to(key), std::move(bytes));
    auto outcome = co_await std::move(reading);
    co_return plain(std::move(outcome));
  }
  std::optional<Result<SharedBytes>> to_storage_now(std::string_view key, const SharedBytes& bytes) const override {
    auto outcome = root_->write_now(bound_to(key), bytes, {});
    if (!outcome) return std::nullopt;
    return result(std::move(*outcome));
  }
  std::optional<Result<Plain>> from_storage_now(std::string_view key, const SharedBytes& bytes) const override {
    auto outcome = root_->read_now(bound_to(key), bytes);
    if (!outcome) return std::nullopt;
    return plain(std::move(*outcome));
  }

 private:
  std::string bound_to(std::string_view key) const {
    std::string out;
    if (!key.starts_with(kStorageKeyRoot)) return out.append(key);
    out.reserve(storage_root_.size() + key.size());
    return out.append(storage_root_).append(key.substr(kStorageKeyRoot.size()));
  }
  static Result<SharedBytes> result(Outcome<SharedBytes> outcome) {
    if (!outcome.ok()) return outcome.failure().status();
    return std::move(*outcome);
  }
  static Result<Plain> plain(Outcome<ReadValue> outcome) {
    if (!outcome.ok()) return outcome.failure().status();
    return Plain{std::move(outcome->bytes), outcome->stale};
  }

  const StepRef root_;
  const std::string storage_root_;
};

}  // namespace

PrefixedStep ProviderSteps::for_resource(std::string_view resource) const {
  if (step) return {prefix, step};
  return {prefix, std::make_shared<PrefixChoice>(resource, no_match, keys)};
}

Outcome<Done> Transformers::add(const std::string& resource, const Providers& providers) {
  const std::size_t dot = resource.find('.');
  const std::string name = resource.substr(0, dot);
  const std::string group = dot == std::string::npos ? std::string() : resource.substr(dot + 1);
  for (const Key& mask : {Key(group, kAny), Key(kAny, kAny)}) {
    if (!configured_.contains(mask)) continue;
    return Failure{"resource " + backplane::quoted(config_text(group, name)) + " is masked by earlier rule " +
                   backplane::quoted(config_text(mask.first, mask.second))};
  }
  Providers& all = configured_[{group, name}];
  all.insert(all.end(), providers.begin(), providers.end());
  return Done();
}

const Transformers::Providers* Transformers::providers_of(const GroupResource& resource) const {
  for (const Key& key : {Key(resource.group, resource.resource), Key(resource.group, kAny), Key(kAny, kAny)}) {
    if (const auto found = configured_.find(key); found != configured_.end()) return &found->second;
  }
  return nullptr;
}

std::shared_ptr<const StorageTransformer> Transformers::make(const GroupResource& resource) const {
  const Providers* const providers = providers_of(resource);
  if (providers == nullptr) return nullptr;
  const std::string name = config_text(resource.group, resource.resource);
  std::vector<PrefixedStep> steps;
  for (const ProviderSteps& each : *providers) steps.push_back(each.for_resource(name));
  return std::make_shared<ResourceTransformer>(std::make_shared<PrefixChoice>(name, "no matching prefix found", std::move(steps)),
                                               storage_root_);
}

std::shared_ptr<const StorageTransformer> Transformers::find(const GroupResource& resource) const {
  Key key(resource.group, resource.resource);
  std::shared_ptr<const Made> made = made_.load();
  if (const auto found = made->find(key); found != made->end()) return found->second;
  auto transformer = make(resource);
  for (;;) {
    auto next = std::make_shared<Made>(*made);
    const auto kept = next->try_emplace(key, transformer).first->second;
    if (made_.compare_exchange_weak(made, std::move(next))) return kept;
  }
}

std::vector<std::string> Transformers::resources() const {
  std::vector<std::string> out;
  for (const auto& [key, providers] : configured_) out.push_back(config_text(key.first, key.second));
  return out;
}

}  // namespace backplane::encryption
