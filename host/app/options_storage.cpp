#include "app/options.hpp"
#include "app/other_stores.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace {

// Nobody is served from stored YAML, so it needs no codec.
constexpr std::string_view kYaml = "application/yaml";

std::string known_types() {
  std::string out;
  for (const Codec* codec : codecs()) out.append(codec->media_type()).append(", ");
  return out.append(kYaml);
}

}  // namespace

void StorageOptions::add_flags(FlagSet& flags) {
  flags.section("Etcd");
  flags.add("storage-backend", &backend,
            "What keeps the objects: rocksdb (durable, in --data-dir), etcd3 (--etcd-servers), memory (nothing survives), or what a plugin "
            "registers. Empty: etcd3 where --etcd-servers is given, else rocksdb.");
  flags.add("unsafe-no-fsync", &unsafe_no_fsync,
            "Acknowledge writes before they are safe on disk. A power cut loses the last of them; for tests.");
  flags.add("etcd-compaction-interval", &compaction_interval, "How often history older than one such interval is forgotten. 0: never.");
  flags.add("etcd-healthcheck-timeout", &healthcheck_timeout, "How long the store may take to answer the check named etcd.");
  flags.add("etcd-readycheck-timeout", &readycheck_timeout, "How long the store may take to answer the check named etcd-readiness.");
  flags.add("delete-collection-workers", &delete_collection_workers,
            "Deletes under way at once in one deletecollection request. More are faster: the store commits them together.");
  flags.add("enable-garbage-collector", &enable_garbage_collector,
            "Set the finalizers that a garbage collector works from. Must be what the controller manager has.");
  flags.add("lease-reuse-duration-seconds", &lease_reuse_seconds,
            "How long one lease of the store is shared by objects that expire; at most a twentieth of their life.");
  flags.accept("encryption-provider-config", FlagType::kString, "", "File that says how objects are encrypted at rest.");
  flags.accept("encryption-provider-config-automatic-reload", FlagType::kBool, "false", "Read that file again when it changes.");
  flags.add("etcd-cafile", &etcd_cafile, "Certificate authority of the etcd servers.");
  flags.add("etcd-certfile", &etcd_certfile, "Client certificate for etcd.");
  flags.add("etcd-count-metric-poll-period", &count_metric_poll_period,
            "0: objects are not counted in the metrics. Else they are, as of the moment when metrics are read.");
  flags.add("etcd-db-metric-poll-interval", &db_metric_poll_interval,
            "0: the size of the store is not in the metrics. Else it is, as of the moment when metrics are read.");
  flags.add("etcd-keyfile", &etcd_keyfile, "Client key for etcd.");
  flags.add("etcd-prefix", &etcd_prefix, "What every key in etcd begins with.");
  flags.add("etcd-servers", &etcd_servers,
            "URLs of the servers of an etcd cluster, whose store it then is. Left out: the embedded store, which needs none; it cannot be "
            "empty.");
  flags.add("etcd-servers-overrides", &etcd_servers_overrides,
            "group/resource#servers, the servers separated by semicolons: other etcd servers for single built-in resources, such as "
            "/events#http://etcd-3:2379, or for all of a group (policy/*). What is written in one transaction stays together: services and "
            "ipaddresses cannot be moved. Definitions, custom resources and APIServices stay where they are, whatever is said of them.");
  flags.add("storage-media-type", &media_type,
            "Encoding of built-in kinds in the store, one of [" + known_types() +
                "]; custom resources are always JSON. What was stored in another one stays readable, and changes when it is next written. "
                "Empty: the backend's own choice, application/json for rocksdb and memory, protobuf for etcd3.");
  flags.add(
      "watch-cache", &watch_cache,
      "Serve reads that may be old from memory without asking the store. false: every read is confirmed by the store, and is the newest.");
  flags.add("watch-cache-sizes", &watch_cache_sizes,
            "resource[.group]#size; sizes are dynamic, only 0 means something: what --watch-cache=false does, for this resource.");
  flags.accept("default-watch-cache-size", FlagType::kInt, "100",
               "DEPRECATED: watch caches are sized automatically and this flag will be removed in a future version.");
}

void StorageOptions::validate(Problems& problems) const {
  const auto zero = std::chrono::nanoseconds::zero();
  if (compaction_interval < zero) problems.push_back("--etcd-compaction-interval can not be negative value");
  if (healthcheck_timeout <= zero) problems.push_back("--etcd-healthcheck-timeout must be greater than zero");
  if (readycheck_timeout <= zero) problems.push_back("--etcd-readycheck-timeout must be greater than zero");
  if (const auto overrides = parse_store_overrides(etcd_servers_overrides); !overrides.ok())
    problems.push_back(overrides.status().message());
  if (!media_type.empty() && stored_form().empty()) {
    problems.push_back("--storage-media-type \"" + media_type + "\" invalid, allowed values: " + known_types());
  }
}

std::string StorageOptions::stored_form() const {
  for (const Codec* codec : codecs()) {
    if (codec->media_type() == media_type) return std::string(codec->name());
  }
  return media_type == kYaml ? "yaml" : "";
}

}  // namespace backplane
