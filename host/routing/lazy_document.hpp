// A document that is made when somebody asks, and then found on the shelf as long as it is read now and then.
//
// Thread-safety: any thread.  It is made on the blocking pool, once; who asks meanwhile waits without holding a thread.
// Lifetime:      outlives every get() under way: whoever asks holds what owns it.
// Errors:        what `make` throws is thrown to the one who had it made; the next to ask has it made again.
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

  // `hash`: stands for the bytes in ETags; empty: they are hashed.
  Task<MadeRef> get(Shelf shelf, std::function<std::string()> make, std::string hash = {}) const;
  // Of the document as it was made last; empty when it never was.
  std::string hash() const;

 private:
  // Who is to make it gets true at once; the others, later, whether it has been made.
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
