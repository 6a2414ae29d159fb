// Immutable bytes shared by everyone who reads them.
//
// Thread-safety: the bytes never change, so any number of threads may read; copying the handle is atomic.
// Lifetime:      the bytes live as long as one handle does.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A shared, immutable byte string with an offset window into it.  Copying costs one atomic increment.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::string text) : owner_(std::make_shared<const std::string>(std::move(text))), view_(*owner_) {}
  SharedBytes(std::shared_ptr<const std::string> owner, std::string_view window) : owner_(std::move(owner)), view_(window) {}

  // Bytes that live as long as the process (string literals, read-only data of a loaded plugin).
  static SharedBytes from_static(std::string_view text) { return SharedBytes(nullptr, text); }

  std::string_view view() const noexcept { return view_; }
  std::size_t size() const noexcept { return view_.size(); }
  bool empty() const noexcept { return view_.empty(); }

  // The same owner, a smaller window: [offset, offset + count).
  SharedBytes slice(std::size_t offset, std::size_t count = std::string_view::npos) const {
    return SharedBytes(owner_, view_.substr(offset, count));
  }
  // Everything the owner holds; static bytes have no owner and stay what they are.
  SharedBytes whole() const { return owner_ ? SharedBytes(owner_, *owner_) : *this; }

 private:
  std::shared_ptr<const std::string> owner_;
  std::string_view view_;
};

}  // namespace BACKPLANE_API
