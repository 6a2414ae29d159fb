// Which cluster addresses and node ports are taken.  The stored services are the truth; this is their image in memory, rebuilt from
// them when the server starts, and kept by reserving before a write and releasing after a delete.
//
// Thread-safety: any thread; one lock, held for a few set operations.
// Errors:        kInvalid-worthy texts for what cannot be had, as upstream's allocators word them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/status.hpp"

namespace backplane::core {

// An IPv4 or IPv6 range; at most 2^16 addresses of it are handed out, as many as one server's services can need.
class AddressRange {
 public:
  // "10.0.0.0/24".
  static Result<AddressRange> parse(std::string_view cidr);
  // Address number `index` of the range; 0 is the network itself.
  std::string address(std::uint32_t index) const;
  // The number of an address, or nothing when it is not in the range (or is one that is never given away).
  std::optional<std::uint32_t> index_of(std::string_view address) const;
  std::uint32_t size() const noexcept { return size_; }  // addresses 1 … size() may be given
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  bool six_ = false;
  unsigned char base_[16] = {};
  std::uint32_t size_ = 0;
};

struct PortRange {
  int first = 30000;
  int last = 32767;
  // "30000-32767".
  static Result<PortRange> parse(std::string_view text);
  bool holds(std::int64_t port) const noexcept { return port >= first && port <= last; }
};

// A set of numbers in [first, last] with a band at its start that is given out last.
class NumberPool {
 public:
  NumberPool(std::uint32_t first, std::uint32_t last, std::uint32_t reserved_band) : first_(first), last_(last), band_(reserved_band) {}
  bool take(std::uint32_t number);          // false: taken
  std::optional<std::uint32_t> take_any();  // nothing: all taken
  void release(std::uint32_t number);
  bool is_taken(std::uint32_t number);

 private:
  std::optional<std::uint32_t> pick(std::uint32_t first, std::uint32_t last);
  std::mutex mutex_;
  std::set<std::uint32_t> taken_;
  std::uint32_t first_, last_, band_;
};

class ServiceAllocator {
 public:
  ServiceAllocator(AddressRange addresses, PortRange ports);

  // Error texts: the detail of a field error; empty: it is yours now.
  std::string take_address(std::string_view address);
  std::optional<std::string> take_any_address();
  void release_address(std::string_view address);
  std::string take_port(std::int64_t port);
  std::optional<std::int64_t> take_any_port();
  void release_port(std::int64_t port);
  bool port_is_taken(std::int64_t port);
  // Marks what a stored service holds; taken twice is no error here.
  void adopt(std::string_view address) { (void)take_address(address); }
  void adopt(std::int64_t port) { (void)take_port(port); }

  const AddressRange& addresses() const noexcept { return addresses_; }

 private:
  AddressRange addresses_;
  PortRange ports_;
  NumberPool address_pool_;
  NumberPool port_pool_;
};

}  // namespace backplane::core
