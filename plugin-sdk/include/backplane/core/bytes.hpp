// Immutable bytes with shared ownership.
//
// Thread-safety: the bytes never change; any number of threads may read them. Threads may copy one SharedBytes at the same time, but must
//                not assign to it at the same time.
// Lifetime:      the bytes live as long as the last SharedBytes that owns them.
// Errors:        none, except std::bad_alloc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// An immutable byte string: a shared owner and a window [offset, offset + size) of its bytes. A copy costs one atomic increment and
// copies no bytes.
//
//   const SharedBytes whole(to_json(object));
//   const SharedBytes head = whole.slice(0, 16);  // shares the owner
class SharedBytes {
 public:
  // Empty; has no owner.
  SharedBytes() = default;
  // Takes ownership of `text`: does not copy its characters and keeps its spare capacity.
  explicit SharedBytes(std::string text) : SharedBytes(std::make_shared<const std::string>(std::move(text))) {}
  // Shares `owner`. Precondition: `window` lies within bytes that live as long as *owner.
  SharedBytes(std::shared_ptr<const void> owner, std::string_view window) : owner_(std::move(owner)), view_(window) {}

  // Returns a concatenation of `parts` in one allocation without spare capacity: for bytes that are stored for a long time.
  static SharedBytes concat(std::span<const std::string_view> parts);

  // Returns a view of bytes that live as long as the process: string literals, read-only data of a loaded plugin. Copies and owns nothing.
  static SharedBytes from_static(std::string_view text) { return SharedBytes(nullptr, text); }

  // The bytes. The view is valid as long as any SharedBytes with the same owner.
  std::string_view view() const noexcept { return view_; }
  std::size_t size() const noexcept { return view_.size(); }
  bool empty() const noexcept { return view_.empty(); }

  // Returns the window [offset, offset + count) of this window, with the same owner. If `count` reaches past the end, the window ends at
  // the end.
  // Errors: std::out_of_range if offset > size().
  SharedBytes slice(std::size_t offset, std::size_t count = std::string_view::npos) const {
    return SharedBytes(owner_, view_.substr(offset, count));
  }

 private:
  explicit SharedBytes(std::shared_ptr<const std::string> text) : view_(*text) { owner_ = std::move(text); }

  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace BACKPLANE_API
