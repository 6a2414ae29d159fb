// A cache of recently read documents.  A document that is evicted is generated again by the next request.
//
// Thread-safety: every method from any thread.
// Lifetime:      held by a shared_ptr; a document lives as long as a reference to it.
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
  std::string hash;  // sha512_hex of the bytes, unless they were made with one
  std::time_t made = std::time(nullptr);
};
using MadeDocumentRef = std::shared_ptr<const MadeDocument>;

class DocumentShelf : public std::enable_shared_from_this<DocumentShelf> {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    std::size_t max_bytes = 16 * 1024 * 1024;  // the last read document is kept even if it is larger
    std::chrono::seconds keep{300};            // since the last read
  };

  DocumentShelf() : DocumentShelf(Limits{}) {}
  explicit DocumentShelf(Limits limits) : limits_(limits) {}

  // Limits the concurrent generations of documents, which take long, so that threads remain for other work.
  Turns& makers() noexcept { return makers_; }
  // The document has been read.
  void put(const MadeDocumentRef& document);
  // The document is no longer served.
  void drop(const MadeDocumentRef& document);
  // Evicts documents that have not been read for Limits::keep before `now`. Runs periodically on the executor of put().
  void sweep(Clock::time_point now);

 private:
  struct Place {
    MadeDocumentRef document;
    Clock::time_point read;
  };
  using Places = std::list<Place>;
  // Moves the document at `place` to `dropped`; under the lock.
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
