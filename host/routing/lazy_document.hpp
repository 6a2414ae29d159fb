// A document that is generated at the first request, and cached on the shelf while it is read from time to time.
//
// Thread-safety: any thread.  It is generated once, on the blocking pool; other callers wait without blocking a thread.
// Lifetime:      outlives every get() in progress: the caller holds its owner.
// Errors:        an exception of `make` is rethrown by the get() that called it; the next get() calls `make` again.
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

// Upper-case hex.
std::string sha512_hex(std::string_view bytes);

class LazyDocument {
 public:
  using MadeRef = MadeDocumentRef;
  using Shelf = std::shared_ptr<DocumentShelf>;

  LazyDocument() = default;
  ~LazyDocument();
  LazyDocument(const LazyDocument&) = delete;
  LazyDocument& operator=(const LazyDocument&) = delete;

  // `hash`: the ETag; empty: computed from the bytes.
  Task<MadeRef> get(Shelf shelf, std::function<std::string()> make, std::string hash = {}) const;
  // The hash of the document when it was generated last; empty: it never was.
  std::string hash() const;

 private:
  // True at once for the caller that must generate the document; for the others later, with whether it was generated.
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
