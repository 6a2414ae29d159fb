// Reads a range of the store in pages; the next page is read while the caller processes the current one.
//
// Thread-safety: one reader, on an executor.
// Lifetime:      a page that is being read at destruction is dropped when it arrives; the store's task group waits for it.
// Errors:        the store's, if a smaller page fails too; an exception is logged and reported as kServiceUnavailable.
#pragma once

#include <memory>
#include <optional>

#include "watchcache/prefix_cache.hpp"

namespace backplane {

class PageReader {
 public:
  using Page = Result<RangeResult>;
  // Pages of small values hold more of them: a store may visit the whole range for each page (etcd before 3.6 does).
  static constexpr std::int64_t kFirstPage = 1'000, kMostOnPage = 10'000;
  static constexpr std::size_t kPageBytes = 16 * 1024 * 1024;

  // Begins with the first page.  All are of one revision.
  PageReader(std::shared_ptr<FollowedStore> store, std::string prefix);
  bool done() const noexcept { return !on_its_way_; }
  // The next page, unless done().
  Task<Page> next();

 private:
  static Task<void> read(std::shared_ptr<FollowedStore> store, RangeRequest request, Promise<Page> page);
  void ask();

  const std::shared_ptr<FollowedStore> store_;
  RangeRequest request_;
  std::int64_t most_ = kMostOnPage;
  std::optional<Promise<Page>> on_its_way_;
};

}  // namespace backplane
