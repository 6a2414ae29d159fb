#include "services/node_ports.hpp"

#include <algorithm>

#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/base64.hpp"

namespace backplane::core {
namespace {

constexpr std::string_view kName = "servicenodeports";

Status unreadable(std::string_view what) {
  return internal_error("the stored allocation of node ports cannot be read: " + std::string(what));
}

}  // namespace

ResourceConfig range_config() {
  ResourceConfig config;
  config.kind = {"", "v1", "RangeAllocation"};
  config.resource = "rangeallocations";
  config.storage_prefix = "ranges";
  config.schemas = core_schemas();
  config.schema = config.schemas->find(config.kind);
  KindFacts facts;
  facts.namespaced = false;
  config.strategy = std::make_shared<kit::KindStrategy>(std::move(facts));
  return config;
}

// The data is one big-endian number without leading zeros; its bit number N is port `first` + N.
Result<PortMap> PortMap::read(const Object& allocation) {
  auto range = PortRange::parse(get_string(allocation, "range"));
  if (!range.ok()) return unreadable("its range is " + quoted(get_string(allocation, "range")));
  const auto bytes = from_base64(get_string(allocation, "data"));
  if (!bytes) return unreadable("its data is no base64");
  PortMap map;
  for (std::size_t i = 0; i < bytes->size(); ++i) {
    const auto byte = static_cast<unsigned char>((*bytes)[bytes->size() - 1 - i]);
    for (std::size_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) map.set(range->first + static_cast<std::int64_t>(i * 8 + bit));
    }
  }
  return map;
}

int PortMap::count(const PortRange& range) const {
  int out = 0;
  for (int port = range.first; port <= range.last; ++port) out += taken(port) ? 1 : 0;
  return out;
}

Object PortMap::object(const PortRange& range) const {
  std::string bytes(static_cast<std::size_t>(range.last - range.first) / 8 + 1, '\0');
  for (int port = range.first; port <= range.last; ++port) {
    const auto bit = static_cast<std::size_t>(port - range.first);
    if (taken(port)) bytes[bytes.size() - 1 - bit / 8] = static_cast<char>(bytes[bytes.size() - 1 - bit / 8] | (1 << (bit % 8)));
  }
  bytes.erase(0, std::min(bytes.find_first_not_of('\0'), bytes.size()));
  Object out;
  out["kind"] = "RangeAllocation";
  out["apiVersion"] = "v1";
  out["metadata"].emplace_object();
  out["range"] = range.text();
  out["data"] = to_base64(bytes);
  return out;
}

std::vector<std::int64_t> PortMap::all() const {
  std::vector<std::int64_t> out;
  for (std::int64_t port = 1; port <= kLast; ++port) {
    if (taken(port)) out.push_back(port);
  }
  return out;
}

std::int64_t PortMap::pick(const PortRange& range) const {
  const std::int64_t upper = pick_from(range.first + range.band(), range.last);
  return upper != 0 ? upper : pick_from(range.first, range.first + range.band() - 1);
}

std::int64_t PortMap::pick_from(int first, int last) const {
  if (first > last) return 0;
  const auto count = static_cast<std::uint64_t>(last - first + 1);
  const std::uint64_t start = random_below(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t port = first + static_cast<std::int64_t>((start + i) % count);
    if (!taken(port)) return port;
  }
  return 0;
}

Task<Result<NodePorts::Stored>> NodePorts::read(bool newest) const {
  RequestContext own;
  GetOptions options;
  if (!newest) options.resource_version = "0";
  auto found = co_await store_->get(own, std::string(kName), std::move(options));
  Stored out;
  if (!found.ok() && found.status().reason() == Reason::kNotFound) co_return out;
  if (!found.ok()) co_return std::move(found).status();
  auto map = PortMap::read(decode(**found, own.arena()));
  if (!map.ok()) co_return std::move(map).status();
  out.entry = std::move(*found);
  out.map = *map;
  co_return out;
}

Status NodePorts::join(StoreTransaction& transaction, const Stored& before, const PortMap& map) const {
  Object object = map.object(range_);
  if (before.entry == nullptr) return transaction.create(*store_, "", std::string(kName), std::move(object));
  return transaction.replace(*store_, before.entry, std::move(object));
}

}  // namespace backplane::core
