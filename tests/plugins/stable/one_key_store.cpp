// The storage backend "one-key", made with the C++ wrapper of the stable interface, for stable_store_test.cpp. It has one key, one watch,
// no history except the newest value, and no leases.
#include <backplane/stable/plugin.hpp>

#include <algorithm>
#include <mutex>
#include <optional>

using namespace backplane::stable;

namespace {

class OneKeyStore final : public Store {
 public:
  std::int64_t current_revision() override {
    const std::lock_guard lock(mutex_);
    return revision_;
  }
  void range(const bp_range& range, const StoreAnswer& answer) override {
    const std::lock_guard lock(mutex_);
    if (range.revision > revision_) throw Error("a future revision", "BadRequest");
    if (!value_.empty()) answer.add({"/k", value_, created_, changed_});
    answer.set_range(revision_, value_.empty() ? 0 : 1, false);
  }
  void txn(const bp_txn& txn, const StoreAnswer& answer) override {
    const std::lock_guard lock(mutex_);
    if (txn.compare_count > 0 && txn.compares[0]->mod_revision != changed_) {
      answer.add({"/k", value_, created_, changed_});
      answer.set_txn(false, revision_);
      return;
    }
    const std::string old = std::exchange(value_, std::string(view(txn.puts[0]->value)));
    const std::int64_t before = std::exchange(changed_, ++revision_);
    if (created_ == 0) created_ = revision_;
    if (stream_) {
      stream_->add({{"/k", value_, created_, changed_}, false, old, before});
      stream_->push(revision_);
    }
    answer.set_txn(true, revision_);
  }
  std::unique_ptr<StoreWatch> watch(std::string_view, std::int64_t after, EventStream stream) override {
    const std::lock_guard lock(mutex_);
    stream_ = stream;
    if (changed_ > after) {
      stream_->add({{"/k", value_, created_, changed_}});
      stream_->push(revision_);
    }
    return std::make_unique<OneKeyWatch>(*this);
  }
  void compact(std::int64_t) override {}
  std::int64_t grant_lease(std::int64_t) override { throw Error("no leases", "ServiceUnavailable", 503); }
  void health(std::uint32_t) override {}
  std::int64_t size() noexcept override { return 7; }
  void raise_revision(std::int64_t revision) override {
    const std::lock_guard lock(mutex_);
    revision_ = std::max(revision_, revision);
  }

 private:
  struct OneKeyWatch final : StoreWatch {
    explicit OneKeyWatch(OneKeyStore& its_store) : store(its_store) {}
    ~OneKeyWatch() override {
      const std::lock_guard lock(store.mutex_);
      store.stream_.reset();
    }
    void more() noexcept override {}
    OneKeyStore& store;
  };

  std::mutex mutex_;
  std::int64_t revision_ = 1, created_ = 0, changed_ = 0;
  std::string value_;
  std::optional<EventStream> stream_;
};

class OneKeyPlugin final : public Plugin {
  void provision(Host& host) override {
    StoreBackend backend;
    backend.name = "one-key";
    backend.open = [](const bp_store_settings&) { return std::make_unique<OneKeyStore>(); };
    backend.stored_form = "protobuf";
    backend.raises_revision = true;
    add_storage_backend(host, std::move(backend));
  }
};

}  // namespace

BACKPLANE_STABLE_PLUGIN(OneKeyPlugin, "one_key_store.json")
