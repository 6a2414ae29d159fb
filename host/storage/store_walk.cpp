#include "storage/store_walk.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace backplane {
namespace {

constexpr std::size_t kPageBytes = 4 * 1024 * 1024;  // the intended size of a page
constexpr std::string_view kMasterLeases = "masterleases/", kPeerLeases = "peerserverleases/", kOwn = "backplane/";

}  // namespace

bool is_server_state(std::string_view key) {
  if (!key.starts_with(kObjectKeyPrefix)) return false;
  key.remove_prefix(kObjectKeyPrefix.size());
  return key.starts_with(kMasterLeases) || key.starts_with(kPeerLeases) || key.starts_with(kOwn);
}

struct StoreDigest::State {
  State() : context(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context, EVP_sha256(), nullptr); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void add(std::string_view text) {
    std::array<unsigned char, 8> size{};
    for (std::size_t i = 0; i < size.size(); ++i) size[i] = static_cast<unsigned char>(text.size() >> (8 * i));
    EVP_DigestUpdate(context, size.data(), size.size());
    EVP_DigestUpdate(context, text.data(), text.size());
  }
  EVP_MD_CTX* const context;
};

StoreDigest::StoreDigest() : state_(std::make_unique<State>()) {}
StoreDigest::~StoreDigest() = default;
StoreDigest::StoreDigest(StoreDigest&&) noexcept = default;
StoreDigest& StoreDigest::operator=(StoreDigest&&) noexcept = default;

void StoreDigest::add(std::string_view key, std::string_view value) {
  state_->add(key);
  state_->add(value);
  ++keys_;
  bytes_ += key.size() + value.size();
}

std::string StoreDigest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text.push_back(kDigits[digest[i] >> 4]);
    text.push_back(kDigits[digest[i] & 15]);
  }
  return text;
}

StoreWalk::StoreWalk(StorageBackend& store, Revision revision, bool keys_only)
    : store_(store), revision_(revision), keys_only_(keys_only), end_(kObjectKeyPrefix) {
  if (keys_only) limit_ = kMaxPage;
}

Task<Result<bool>> StoreWalk::next() {
  items_.clear();
  if (end_ == kObjectKeysEnd) co_return false;
  RangeRequest request;
  request.start = end_;
  request.end = std::string(kObjectKeysEnd);
  request.revision = revision_;
  request.limit = limit_;
  request.keys_only = keys_only_;
  request.skip_count = true;
  auto reading = store_.range(std::move(request));
  auto page = co_await std::move(reading);
  if (!page.ok()) co_return std::move(page.status());
  from_ = end_;
  end_ = page->more && !page->items.empty() ? page->items.back().key + '\0' : std::string(kObjectKeysEnd);
  std::size_t bytes = 1;
  for (const KeyValue& item : page->items) bytes += item.value.size();
  if (!keys_only_ && !page->items.empty()) {
    const auto fits = static_cast<std::int64_t>(kPageBytes * page->items.size() / bytes);
    limit_ = std::clamp<std::int64_t>(std::min(fits, limit_ * 2), 1, kMaxPage);
  }
  items_ = std::move(page->items);
  std::erase_if(items_, [](const KeyValue& item) { return is_server_state(item.key); });
  co_return true;
}

}  // namespace backplane
