// What one write has taken from the allocator: given back unless the write is kept.
//
// Thread-safety: belongs to one write.
// Lifetime:      within its allocator's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/status.hpp"
#include "services/allocator.hpp"

namespace backplane::core {

// Addresses and ports that a stored service holds.
struct Holdings {
  std::vector<std::string> addresses;
  std::vector<std::int64_t> ports;
};
Holdings holdings_of(const Object& spec);

class Reservation {
 public:
  // A trial (dry run) takes no port: it says only whether one is taken already, and makes up those that nobody asked for.
  explicit Reservation(ServiceAllocator& allocator, bool trial = false) : allocator_(allocator), trial_(trial) {}
  ~Reservation() { give_back(); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // Takes what `spec` asks for and fills in what it leaves open; what `held` lists is the service's own already.
  void reserve(Object& spec, const Holdings& held, FieldErrors& errors);
  void keep() { taken_ = {}; }
  void give_back();

 private:
  void reserve_addresses(Object& spec, const Holdings& held, FieldErrors& errors);
  void reserve_ports(Object& spec, const Holdings& held, FieldErrors& errors);
  void reserve_health_port(Object& spec, const Holdings& held, FieldErrors& errors);
  bool take_port(std::int64_t port, const Holdings& held, const std::string& path, FieldErrors& errors);
  std::optional<std::int64_t> take_any_port();
  std::int64_t make_up_port();

  ServiceAllocator& allocator_;
  bool trial_;
  Holdings taken_;
};

}  // namespace backplane::core
