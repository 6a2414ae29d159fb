#include "app/etcd_stand_in.hpp"
#include "app/log.hpp"
#include "app/options.hpp"
#include "app/other_stores.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace {

// YAML is a storage encoding only, so there is no codec for it.
constexpr std::string_view kYaml = "application/yaml";

std::string known_types() {
  std::string out;
  for (const Codec* codec : codecs(false)) out.append(codec->media_type()).append(", ");
  return out.append(kYaml);
}

}  // namespace

void StorageOptions::add_flags(FlagSet& flags) {
  flags.section("Etcd");
  flags.add("storage-backend", &backend,
            "The store: rocksdb (durable, in --data-dir), etcd3 (--etcd-servers), memory (lost when the process ends), or a backend that a "
            "plugin registers. Empty: etcd3 if --etcd-servers is set, otherwise rocksdb.");
  flags.add("unsafe-no-fsync", &unsafe_no_fsync,
            "Acknowledge writes before they are durable; a power failure loses the last ones. For tests.");
  flags.add("etcd-compaction-interval", &compaction_interval,
            "Interval of compaction: history older than one interval is removed. 0: never.");
  flags.add("etcd-healthcheck-timeout", &healthcheck_timeout, "Timeout of the health check \"etcd\", which reads from the store.");
  flags.add("etcd-readycheck-timeout", &readycheck_timeout,
            "Timeout of the readiness check \"etcd-readiness\", which reads from the store.");
  flags.add("delete-collection-workers", &delete_collection_workers,
            "Number of workers of one deletecollection request; each has 64 deletes in progress.");
  flags.add("enable-garbage-collector", &enable_garbage_collector,
            "Set the finalizers that the garbage collector needs. Must equal the flag of kube-controller-manager.");
  flags.add("lease-reuse-duration-seconds", &lease_reuse_seconds,
            "Time, in seconds, for which expiring objects share a lease of the store; at most a twentieth of their lifetime.");
  flags.forward("encryption-provider-config", FlagType::kString, "",
                "File with an EncryptionConfiguration: which resources are encrypted in the store, and how.");
  flags.forward("encryption-provider-config-automatic-reload", FlagType::kBool, "false",
                "Reload the file of --encryption-provider-config when it changes.");
  flags.add("etcd-cafile", &etcd_cafile, "CA certificates of the etcd servers, PEM.");
  flags.add("etcd-certfile", &etcd_certfile, "Client certificate for etcd, PEM.");
  flags.add("etcd-count-metric-poll-period", &count_metric_poll_period,
            "0: no metrics for the number of objects. Otherwise they have the current values.");
  flags.add("etcd-db-metric-poll-interval", &db_metric_poll_interval,
            "0: no metrics for the size of the store. Otherwise they are at most this old.");
  flags.add("etcd-keyfile", &etcd_keyfile, "Client key for etcd, PEM.");
  flags.add("etcd-prefix", &etcd_prefix, "Prefix of all keys in etcd.");
  flags.add("etcd-servers", &etcd_servers, "URLs of the members of an etcd cluster to use as the store. Unset: the embedded store.");
  flags.add(
      "etcd-servers-overrides", &etcd_servers_overrides,
      "group/resource#URL;URL: other etcd servers for a built-in resource (/events#http://etcd-3:2379) or for all resources of a group "
      "(policy/*#…). Not possible for services and ipaddresses; without effect for definitions, custom resources and APIServices.");
  flags.add("storage-media-type", &media_type,
            "Encoding in which built-in kinds are stored, one of [" + known_types() +
                "]; custom resources are always JSON. Objects in another encoding stay readable, and their next write converts them. "
                "Empty: application/json for rocksdb and memory, protobuf for etcd3.");
  flags.add("watch-cache", &watch_cache, "Serve reads that allow old data from memory. false: every read is confirmed by the store.");
  flags.add("watch-cache-sizes", &watch_cache_sizes,
            "resource[.group]#size. 0 has the effect of --watch-cache=false for that resource; other sizes have no effect, because caches "
            "are sized automatically.");
  flags.accept("default-watch-cache-size", FlagType::kInt, "100",
               "DEPRECATED: watch caches are sized automatically and this flag will be removed in a future version.");
}

void StorageOptions::complete() {
  if (backend.empty()) backend = etcd_servers.empty() ? "rocksdb" : "etcd3";
  const bool asks = backend == "etcd3" && etcd_servers_overrides.empty();
  const auto stand_in = asks ? find_etcd_stand_in(etcd_servers) : std::nullopt;
  if (!stand_in) return;
  app_log().info("--etcd-servers: {} is backplane-etcd, the embedded store in its data directory is used directory={}",
                 etcd_servers.front(), stand_in->data_dir);
  backend = "rocksdb";
  embedded_dir = stand_in->data_dir;
  unsafe_no_fsync = unsafe_no_fsync || stand_in->unsafe_no_fsync;
}

void StorageOptions::validate(Problems& problems) const {
  const auto zero = std::chrono::nanoseconds::zero();
  if (compaction_interval < zero) problems.push_back("--etcd-compaction-interval: must not be negative");
  if (healthcheck_timeout <= zero) problems.push_back("--etcd-healthcheck-timeout: must be greater than 0");
  if (readycheck_timeout <= zero) problems.push_back("--etcd-readycheck-timeout: must be greater than 0");
  if (const auto overrides = parse_store_overrides(etcd_servers_overrides); !overrides.ok())
    problems.push_back(overrides.status().message());
  if (!media_type.empty() && stored_form().empty()) {
    problems.push_back("--storage-media-type: invalid value \"" + media_type + "\"; allowed: " + known_types());
  }
}

std::string StorageOptions::stored_form() const {
  for (const Codec* codec : codecs(false)) {
    if (codec->media_type() == media_type) return std::string(codec->name());
  }
  return media_type == kYaml ? "yaml" : "";
}

}  // namespace backplane
