// A cache of recently read documents. After a document has been evicted, the next request generates it again.
//
// Thread-safety: any thread.
// Lifetime:      a shared_ptr owns the cache. A document exists as long as there is a reference to it.
#pragma once

#include <chrono>
#include <ctime>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backplane/core/bytes.hpp"
#include "backplane/core/turns.hpp"

namespace backplane {

struct MadeDocument {
  SharedBytes bytes;
  std::string hash;  // sha512_hex() of the bytes, unless the caller of LazyDocument::get() has set another hash
  std::time_t made = std::time(nullptr);
};
using MadeDocumentRef = std::shared_ptr<const MadeDocument>;

class DocumentShelf : public std::enable_shared_from_this<DocumentShelf> {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t max_bytes = 16 * 1024 * 1024;  // the most recently read document is cached even if it is larger
    std::chrono::seconds keep{300};            // how long a document is cached after its last read
  };

  DocumentShelf() : DocumentShelf(Limits{}) {}
  explicit DocumentShelf(Limits limits) : limits_(limits) {}

  // Limits how many documents are generated at the same time. Generation takes long, and other work needs threads of the blocking pool.
  Turns& makers() noexcept { return makers_; }
  // The document has been read: adds it to the cache, or makes it the most recently read document.
  void put(const MadeDocumentRef& document);
  // The document is no longer served: removes it from the cache.
  void drop(const MadeDocumentRef& document);
  // Evicts the documents whose last read is at least Limits::keep before `now`. put() schedules sweep() on its executor.
  void sweep(Clock::time_point now);

 private:
  struct Place {
    MadeDocumentRef document;
    Clock::time_point read;
  };
  using Places = std::list<Place>;
  // Moves the document at `place` to `dropped`. The caller holds mutex_.
  void take(Places::iterator place, Places& dropped);
  void plan_sweep();

  const Limits limits_;
  Turns makers_{1};
  std::mutex mutex_;
  Places places_;  // the most recently read document first
  std::unordered_map<const MadeDocument*, Places::iterator> by_document_;
  std::size_t bytes_ = 0;
  bool sweep_planned_ = false;
};

}  // namespace backplane
