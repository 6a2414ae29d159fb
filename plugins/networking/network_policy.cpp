// Network policies: policy types, and ranges with exceptions.
#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

// Calls `visit(ipBlock, path)` for every range of a policy.
template <class Visit>
void each_block(const Object& policy, Visit visit) {
  const auto each_peer = [&](std::string_view rules, std::string_view peers) {
    each(object_or_empty(policy, "spec"), rules, [&](const Object& rule, std::size_t i) {
      each(rule, peers, [&](const Object& peer, std::size_t j) {
        const Object* block = get_object(peer, "ipBlock");
        if (block != nullptr) visit(*block, at(at(at(at("spec", rules), i), peers), j) + ".ipBlock");
      });
    });
  };
  each_peer("ingress", "from");
  each_peer("egress", "to");
}

// The network and its prefix length out of 128 bits; nullopt for an invalid range.
struct Network {
  IpAddress address;
  int bits = 0;
};
std::optional<Network> network_of(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_ip(text.substr(0, slash));
  const std::string_view digits = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  if (!address || digits.empty() || digits.size() > 3 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  const int bits = std::stoi(std::string(digits));
  if (bits > (address->six ? 128 : 32)) return std::nullopt;
  return Network{*address, bits + (address->six ? 0 : 96)};
}

bool is_inside(const Network& inner, const Network& outer) {
  if (inner.address.six != outer.address.six || inner.bits <= outer.bits) return false;
  for (int bit = 0; bit < outer.bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80u >> (bit % 8));
    const auto byte = static_cast<std::size_t>(bit / 8);
    if ((inner.address.bytes[byte] & mask) != (outer.address.bytes[byte] & mask)) return false;
  }
  return true;
}

class NetworkPolicyStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    if (count_of(spec, "policyTypes") > 0) return;
    spec["policyTypes"] = count_of(spec, "egress") > 0 ? Array{"Ingress", "Egress"} : Array{"Ingress"};
  }

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override { check_change(object, {}, errors); }
  // A range that the old policy contains in any place is not validated again.
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    std::set<std::string, std::less<>> known;
    each_block(old, [&](const Object& block, const std::string&) {
      known.emplace(get_string(block, "cidr"));
      each_text(block, "except", [&](std::string_view hole, std::size_t) { known.emplace(hole); });
    });
    const auto check_range = [&](std::string_view text, const std::string& path) {
      if (known.contains(text)) return;
      for (const std::string& problem : legacy_cidr_problems(text)) errors.invalid(path, text, problem);
    };
    each_block(object, [&](const Object& block, const std::string& path) {
      const std::string_view cidr = get_string(block, "cidr");
      if (cidr.empty()) return errors.required(path + ".cidr");
      check_range(cidr, path + ".cidr");
      const auto outer = network_of(cidr);
      if (!outer) return;
      each_text(block, "except", [&](std::string_view hole, std::size_t i) {
        check_range(hole, at(path + ".except", i));
        const auto inner = network_of(hole);
        if (inner && !is_inside(*inner, *outer)) errors.invalid(at(path + ".except", i), hole, "must be a strict subset of `cidr`");
      });
    });
  }
};

}  // namespace

KindCode network_policy_code() { return {.make = made<NetworkPolicyStrategy>()}; }

}  // namespace backplane::networking
