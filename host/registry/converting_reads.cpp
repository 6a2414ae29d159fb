#include "registry/converting_reads.hpp"

#include <algorithm>

#include "backplane/rest/store_hooks.hpp"

namespace backplane::registry {
namespace {

// A reference that does not own the entry: the wrapped cursor owns it until its next call.
ObjectRef borrowed(const ObjectEntry* entry) { return {std::shared_ptr<void>(), entry}; }

class ConvertingCursor final : public ObjectCursor {
 public:
  ConvertingCursor(std::unique_ptr<ObjectCursor> below, std::shared_ptr<const Conversion> conversion)
      : below_(std::move(below)), conversion_(std::move(conversion)) {}

  Task<Result<std::span<const ObjectEntry* const>>> next() override {
    auto batch = co_await below_->next();
    if (!batch.ok() || std::all_of(batch->begin(), batch->end(), [this](const auto* each) { return conversion_->shows(*each); }))
      co_return batch;
    std::vector<ObjectRef> entries;
    entries.reserve(batch->size());
    for (const ObjectEntry* entry : *batch) entries.push_back(borrowed(entry));
    auto shown = co_await conversion_->shown(std::move(entries));
    if (!shown.ok()) co_return std::move(shown.status());
    held_ = std::move(*shown);
    given_.clear();
    for (const ObjectRef& entry : held_) given_.push_back(entry.get());
    co_return std::span<const ObjectEntry* const>(given_);
  }

 private:
  std::unique_ptr<ObjectCursor> below_;
  std::shared_ptr<const Conversion> conversion_;
  std::vector<ObjectRef> held_;
  std::vector<const ObjectEntry*> given_;
};

class ConvertingStream final : public WatchStream {
 public:
  ConvertingStream(std::unique_ptr<WatchStream> below, std::shared_ptr<const Conversion> conversion)
      : below_(std::move(below)), conversion_(std::move(conversion)) {}

  Task<Result<std::vector<WatchEvent>>> next() override {
    auto events = co_await below_->next();
    if (!events.ok()) co_return events;
    std::vector<ObjectRef> entries;
    entries.reserve(events->size());
    for (const WatchEvent& event : *events) entries.push_back(is_object(event) ? event.object : nullptr);
    auto shown = co_await conversion_->shown(std::move(entries));
    if (!shown.ok()) co_return std::move(shown.status());
    for (std::size_t i = 0; i < events->size(); ++i) replace((*events)[i], std::move((*shown)[i]));
    co_return events;
  }
  void cancel() override { below_->cancel(); }

 private:
  static bool is_object(const WatchEvent& event) {
    return event.type != WatchEvent::Type::kBookmark && event.type != WatchEvent::Type::kError;
  }

  void replace(WatchEvent& event, ObjectRef shown) const {
    if (event.type == WatchEvent::Type::kBookmark && event.object != nullptr && !conversion_->shows(*event.object)) {
      shown = conversion_->bookmark(*event.object);
    }
    if (shown == nullptr || shown == event.object) return;
    event.object = std::move(shown);
  }

  std::unique_ptr<WatchStream> below_;
  std::shared_ptr<const Conversion> conversion_;
};

}  // namespace

std::unique_ptr<ObjectCursor> converting_cursor(std::unique_ptr<ObjectCursor> below, std::shared_ptr<const Conversion> conversion) {
  return std::make_unique<ConvertingCursor>(std::move(below), std::move(conversion));
}

std::unique_ptr<WatchStream> converting_stream(std::unique_ptr<WatchStream> below, std::shared_ptr<const Conversion> conversion) {
  return std::make_unique<ConvertingStream>(std::move(below), std::move(conversion));
}

}  // namespace backplane::registry
