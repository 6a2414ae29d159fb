// A document that is generated at its first request. A DocumentShelf caches it while it is read from time to time.
//
// Thread-safety: any thread. One caller generates the document, on the blocking pool. Other callers of get() wait for it without blocking a
//                thread.
// Lifetime:      the caller of get() keeps the owner of the document alive until get() has returned.
// Errors:        get() rethrows an exception of its `make`. The next get() calls its own `make`.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/task.hpp"
#include "routing/document_shelf.hpp"

namespace backplane {

// Returns the SHA-512 digest in upper-case hexadecimal.
std::string sha512_hex(std::string_view bytes);

class LazyDocument {
 public:
  using MadeRef = MadeDocumentRef;
  using Shelf = std::shared_ptr<DocumentShelf>;

  LazyDocument() = default;
  ~LazyDocument();
  LazyDocument(const LazyDocument&) = delete;
  LazyDocument& operator=(const LazyDocument&) = delete;

  // Returns the cached document, or generates it with `make`. `hash`: the ETag; if it is empty, the hash of the bytes is used.
  Task<MadeRef> get(Shelf shelf, std::function<std::string()> make, std::string hash = {}) const;
  // Returns the hash of the last generated document; empty if the document has never been generated.
  std::string hash() const;

 private:
  // The returned promise is true if the caller must generate the document. It is false, at once or later, if the caller must look for the
  // document again.
  Promise<bool> enter() const;
  void leave(const MadeRef& made, const Shelf& shelf) const;
  MadeRef made() const;

  mutable std::mutex mutex_;
  mutable std::weak_ptr<const MadeDocument> made_;
  mutable std::weak_ptr<DocumentShelf> shelf_;
  mutable std::string hash_;
  mutable bool making_ = false;
  mutable std::vector<Promise<bool>> waiting_;
};

}  // namespace backplane
