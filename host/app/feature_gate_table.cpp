#include "app/feature_gate_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "feature_gates_tsv.hpp"

namespace backplane {

namespace {

// The gates that the host reads, or that x-backplane-gate names in a type of a built-in kind.
constexpr std::string_view kSwitchedGates[] = {
    "ConstrainedImpersonation",
    "TokenRequestServiceAccountUIDValidation",
    "APIResponseCompression",
    "APIServerIdentity",
    "AllowInsecureKubeletCertificateSigningRequests",
    "AllowParsingUserUIDFromCertAuth",
    "AllowUnsafeMalformedObjectDeletion",
    "AuthorizePodWebsocketUpgradeCreatePermission",
    "CBORServingAndStorage",
    "CRDObservedGenerationTracking",
    "ClusterTrustBundle",
    "ClusterTrustBundleProjection",
    "ComponentFlagz",
    "ComponentStatusz",
    "ContainerRestartRules",
    "ContainerStopSignals",
    "CoordinatedLeaderElection",
    "CrossNamespaceVolumeDataSource",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRAResourceClaimGranularStatusAuthorization",
    "DRAResourcePoolStatus",
    "DRAWorkloadResourceClaims",
    "DeploymentReplicaSetTerminatingReplicas",
    "DetectCacheInconsistency",
    "EnvFiles",
    "ExtendWebSocketsToKubelet",
    "GenericWorkload",
    "HPAConfigurableTolerance",
    "HPAScaleToZero",
    "HostnameOverride",
    "ImageVolumeWithDigest",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "KMSv1",
    "LoggingAlphaOptions",
    "ManifestBasedAdmissionControlConfig",
    "MatchLabelKeysInPodTopologySpread",
    "MaxUnavailableStatefulSet",
    "MutablePVNodeAffinity",
    "MutablePodResourcesForSuspendedJobs",
    "MutableSchedulingDirectivesForSuspendedJobs",
    "MutatingAdmissionPolicy",
    "NodeDeclaredFeatures",
    "OpenAPIEnums",
    "PodCertificateRequest",
    "PodLevelResources",
    "PodLogsQuerySplitStreams",
    "PodTopologyLabelsAdmission",
    "PortForwardWebsockets",
    "RemoteRequestHeaderUID",
    "ResourceHealthStatus",
    "ResourceHealthStatusMessage",
    "ServiceAccountNodeAudienceRestriction",
    "SizeBasedListCostEstimate",
    "StorageVersionAPI",
    "StorageVersionMigrator",
    "StructuredAuthenticationConfigurationEgressSelector",
    "StructuredAuthenticationConfigurationJWKSMetrics",
    "TopologyAwareWorkloadScheduling",
    "TranslateStreamCloseWebsocketRequests",
    "UnauthenticatedHTTP2DOSMitigation",
    "UnknownVersionInteroperabilityProxy",
    "VolumeLimitScaling",
    "WatchCacheInitializationPostStartHook",
    "WorkloadAwarePreemption",
    "WorkloadWithJob",
};
// The gates whose behaviour cannot be switched off. A gate that guards fields of a kind is in this list if the server accepts, validates
// and stores the fields.
constexpr std::string_view kAlwaysOnGates[] = {
    "AggregatedDiscoveryRemoveBetaType",
    "AllowServiceExternalIPs",
    "AnonymousAuthConfigurableEndpoints",
    "AnyVolumeDataSource",
    "AuthorizeNodeWithSelectors",
    "AuthorizeWithSelectors",
    "BtreeWatchCache",
    "CRDValidationRatcheting",
    "CSIServiceAccountTokenSecrets",
    "ClearingNominatedNodeNameAfterBinding",
    "ConsistentListFromCache",
    "CustomResourceFieldSelectors",
    "DRAAdminAccess",
    "DeclarativeValidation",
    "DeclarativeValidationBeta",
    "DisableAllocatorDualWrite",
    "DynamicResourceAllocation",
    "ExternalServiceAccountTokenSigner",
    "ImageVolume",
    "InPlacePodVerticalScaling",
    "JobBackoffLimitPerIndex",
    "JobManagedBy",
    "JobPodReplacementPolicy",
    "JobSuccessPolicy",
    "KubeletFineGrainedAuthz",
    "ListFromCacheSnapshot",
    "MatchLabelKeysInPodAffinity",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "MultiCIDRServiceAllocator",
    "MutableCSINodeAllocatableCount",
    "NodeInclusionPolicyInPodTopologySpread",
    "PodDeletionCost",
    "PodLifecycleSleepAction",
    "PodLifecycleSleepActionAllowZero",
    "PodObservedGenerationTracking",
    "PodSchedulingReadiness",
    "PreferSameTrafficDistribution",
    "ProcMountType",
    "RecoverVolumeExpansionFailure",
    "RecursiveReadOnlyMounts",
    "RelaxedDNSSearchValidation",
    "RelaxedEnvironmentVariableValidation",
    "RelaxedServiceNameValidation",
    "ResilientWatchCacheInitialization",
    "RestartAllContainersOnContainerExits",
    "RetryGenerateName",
    "SELinuxChangePolicy",
    "SELinuxMountReadWriteOncePod",
    "ServiceAccountTokenJTI",
    "ServiceAccountTokenNodeBinding",
    "ServiceAccountTokenNodeBindingValidation",
    "ServiceAccountTokenPodNodeInfo",
    "ServiceCIDRStatusFieldWiping",
    "SidecarContainers",
    "StorageVersionHash",
    "StreamingCollectionEncodingToJSON",
    "StreamingCollectionEncodingToProtobuf",
    "StrictIPCIDRValidation",
    "StructuredAuthenticationConfiguration",
    "SupplementalGroupsPolicy",
    "UserNamespacesSupport",
    "VolumeAttributesClass",
    "WatchList",
};

// The gates of kube-apiserver whose behaviour is not implemented. A gate that is in no list belongs to another component, or controls an
// internal of the Go implementation.
constexpr std::string_view kUnimplementedGates[] = {
    "APIServerTracing", "SELinuxMount", "ShardedListAndWatch", "TaintTolerationComparisonOperators", "UserNamespacesHostNetworkSupport",
};

constexpr MissingGate kUnsupportedGates[] = {
    {"ShardedListAndWatch", "shardSelector is not served, lists and watches would be of all shards"},
};

constexpr MissingGate kPartialGates[] = {
    {"CoordinatedLeaderElection", "LeaseCandidates are served; no controller elects a leader among them"},
    {"StorageVersionAPI", "StorageVersions are served; this server writes none"},
};

constexpr GateDependency kNeeds[] = {
    {"ClusterTrustBundleProjection", {"ClusterTrustBundle"}},
    {"DRADeviceBindingConditions", {"DRAResourceClaimDeviceStatus"}},
    {"DRADeviceTaintRules", {"DRADeviceTaints"}},
    {"DRAResourceClaimGranularStatusAuthorization", {"DRAResourceClaimDeviceStatus"}},
    {"DRAWorkloadResourceClaims", {"GenericWorkload"}},
    {"ExtendWebSocketsToKubelet", {"NodeDeclaredFeatures"}},
    {"GangScheduling", {"GenericWorkload"}},
    {"GracefulNodeShutdownBasedOnPodPriority", {"GracefulNodeShutdown"}},
    {"InPlacePodLevelResourcesVerticalScaling", {"NodeDeclaredFeatures", "PodLevelResources"}},
    {"InPlacePodVerticalScalingInitContainers", {"NodeDeclaredFeatures"}},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", {"MatchLabelKeysInPodTopologySpread"}},
    {"PodLevelResourceManagers", {"PodLevelResources"}},
    {"ResourceHealthStatusMessage", {"ResourceHealthStatus"}},
    {"RestartAllContainersOnContainerExits", {"ContainerRestartRules", "NodeDeclaredFeatures"}},
    {"StaleControllerConsistencyDaemonSet", {"AtomicFIFO"}},
    {"StaleControllerConsistencyJob", {"AtomicFIFO"}},
    {"StaleControllerConsistencyReplicaSet", {"AtomicFIFO"}},
    {"StaleControllerConsistencyStatefulSet", {"AtomicFIFO"}},
    {"StorageVersionAPI", {"APIServerIdentity"}},
    {"TopologyAwareWorkloadScheduling", {"GenericWorkload"}},
    {"UnknownVersionInteroperabilityProxy", {"APIServerIdentity"}},
    {"UserNamespacesHostNetworkSupport", {"NodeDeclaredFeatures"}},
    {"WindowsGracefulNodeShutdown", {"GracefulNodeShutdown"}},
    {"WorkloadAwarePreemption", {"GangScheduling"}},
    {"WorkloadWithJob", {"GenericWorkload"}},
};

// Removes the text before `end`, and `end`, from `text`; returns the text before `end`.
std::string_view taken(std::string_view& text, char end) {
  const std::string_view out = text.substr(0, text.find(end));
  text.remove_prefix(std::min(text.size(), out.size() + 1));
  return out;
}

Stage stage_named(std::string_view word) {
  constexpr std::pair<std::string_view, Stage> kStages[] = {
      {"alpha", Stage::kAlpha}, {"beta", Stage::kBeta}, {"ga", Stage::kGa}, {"deprecated", Stage::kDeprecated}};
  const auto* found = std::find_if(std::begin(kStages), std::end(kStages), [&](const auto& each) { return each.first == word; });
  if (found == std::end(kStages)) throw std::logic_error("feature_gates.tsv: unknown stage " + std::string(word));
  return found->second;
}

// The gate of `row` in `release`, after its last change in that release or an earlier one. Columns of `row`: name, then
// "release stage default [locked]" for each change.
FeatureGate gate_in(std::string_view row, const ApiRelease& release) {
  FeatureGate out{taken(row, '\t'), false, Stage::kPreAlpha, false};
  while (!row.empty()) {
    std::string_view change = taken(row, '\t');
    const auto since = parse_release(taken(change, ' '));
    if (!since) throw std::logic_error("feature_gates.tsv: no release in the row of " + std::string(out.name));
    if (release < *since) break;
    out.stage = stage_named(taken(change, ' '));
    out.on = taken(change, ' ') == "true";
    out.locked = change == "locked";
  }
  return out;
}

}  // namespace

std::vector<FeatureGate> gates_of(const ApiRelease& release) {
  std::vector<FeatureGate> out;
  std::string_view rows = feature_gates_tsv();
  while (!rows.empty()) {
    const std::string_view row = taken(rows, '\n');
    if (!row.empty() && !row.starts_with('#')) out.push_back(gate_in(row, release));
  }
  return out;
}
std::span<const std::string_view> switched_gates() noexcept { return kSwitchedGates; }
std::span<const std::string_view> always_on_gates() noexcept { return kAlwaysOnGates; }
std::span<const std::string_view> unimplemented_gates() noexcept { return kUnimplementedGates; }
std::span<const MissingGate> unsupported_gates() noexcept { return kUnsupportedGates; }
std::span<const MissingGate> partial_gates() noexcept { return kPartialGates; }
std::span<const GateDependency> gate_dependencies() noexcept { return kNeeds; }

}  // namespace backplane
