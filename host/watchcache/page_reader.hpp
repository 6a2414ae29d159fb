// Reads a range of the store in pages; the next page is read while the caller processes the current one.
//
// Thread-safety: one reader, on an executor.
// Lifetime:      a page that is being read at destruction is dropped when it arrives; FollowedStore::tasks waits for it.
// Errors:        the store's. A page larger than kFirstPage that fails is read again with kFirstPage objects first. An exception is logged
//                and reported as kServiceUnavailable.
#pragma once

#include <memory>
#include <optional>

#include "watchcache/prefix_cache.hpp"

namespace backplane {

class PageReader {
 public:
  using Page = Result<RangeResult>;
  // A page has between kFirstPage and kMostOnPage objects, and about kPageBytes. If the objects are small, pages have many of them, because
  // a store may visit the whole range for each page (etcd before 3.6 does).
  static constexpr std::int64_t kFirstPage = 1'000, kMostOnPage = 10'000;
  static constexpr std::size_t kPageBytes = 16 * 1024 * 1024;

  // Requests the first page.  All pages have the same revision.
  PageReader(std::shared_ptr<FollowedStore> store, std::string prefix);
  bool done() const noexcept { return !next_page_; }
  // The next page. Precondition: !done().
  Task<Page> next();

 private:
  static Task<void> read(std::shared_ptr<FollowedStore> store, RangeRequest request, Promise<Page> page);
  void ask();

  const std::shared_ptr<FollowedStore> store_;
  RangeRequest request_;
  std::int64_t most_ = kMostOnPage;
  std::optional<Promise<Page>> next_page_;
};

}  // namespace backplane
