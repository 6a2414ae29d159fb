#include "custom_storage.hpp"

#include "backplane/kit/forwarding_storage.hpp"

namespace backplane::apiextensions {
namespace {

// A watch that its definition may end, too.
class SharedStream final : public WatchStream {
 public:
  explicit SharedStream(std::shared_ptr<WatchStream> stream) : stream_(std::move(stream)) {}
  Task<Result<std::vector<WatchEvent>>> next() override { return stream_->next(); }
  void cancel() override { stream_->cancel(); }

 private:
  std::shared_ptr<WatchStream> stream_;
};

class CustomStorage final : public kit::ForwardingStorage, public DeprecationProvider {
 public:
  CustomStorage(std::shared_ptr<StandardStorage> version, std::string plural, std::string deprecation_warning, Terminating terminating,
                std::shared_ptr<Watches> watches)
      : ForwardingStorage(std::move(version)),
        plural_(std::move(plural)),
        deprecation_warning_(std::move(deprecation_warning)),
        terminating_(std::move(terminating)),
        watches_(std::move(watches)) {}

  std::string deprecation_warning() const override { return deprecation_warning_; }

  Task<Result<std::unique_ptr<WatchStream>>> watch(RequestContext& context, ListOptions options) override {
    auto opened = co_await ForwardingStorage::watch(context, std::move(options));
    if (!opened.ok()) co_return opened;
    const std::shared_ptr<WatchStream> stream = std::move(*opened);
    watches_->add(stream);
    co_return std::make_unique<SharedStream>(stream);
  }

  Task<Result<ObjectRef>> create(RequestContext& context, Object& object, WriteOptions options) override {
    if (terminating_->load(std::memory_order_relaxed)) co_return refused();
    co_return co_await ForwardingStorage::create(context, object, std::move(options));
  }

 private:
  Status refused() const {
    Status refused = method_not_allowed(kind().group, plural_, "create");
    refused.set_message("create not allowed while custom resource definition is terminating");
    return refused;
  }

  std::string plural_;
  std::string deprecation_warning_;
  Terminating terminating_;
  std::shared_ptr<Watches> watches_;
};

}  // namespace

void Watches::add(const std::shared_ptr<WatchStream>& stream) {
  {
    const std::lock_guard lock(mutex_);
    if (streams_.size() >= swept_at_) {
      streams_.erase(std::remove_if(streams_.begin(), streams_.end(), [](const auto& each) { return each.expired(); }), streams_.end());
      swept_at_ = std::max<std::size_t>(16, streams_.size() * 2);
    }
    if (!ended_) {
      streams_.push_back(stream);
      return;
    }
  }
  stream->cancel();
}

void Watches::end() {
  std::vector<std::weak_ptr<WatchStream>> streams;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    streams.swap(streams_);
  }
  for (const auto& each : streams) {
    if (const auto stream = each.lock()) stream->cancel();
  }
}

std::shared_ptr<StandardStorage> make_custom_storage(std::shared_ptr<StandardStorage> version, std::string plural,
                                                     std::string deprecation_warning, Terminating terminating,
                                                     std::shared_ptr<Watches> watches) {
  return std::make_shared<CustomStorage>(std::move(version), std::move(plural), std::move(deprecation_warning), std::move(terminating),
                                         std::move(watches));
}

}  // namespace backplane::apiextensions
