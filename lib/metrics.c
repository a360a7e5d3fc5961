// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

#include <linux/smc.h>

/* clang-format off */
const struct metric metrics[N_METRICS] = {
	[M_UP] = { "smc_up", METRIC_GAUGE, "", "1 when the smc module answers." },
	[M_MODULE_INFO] = { "smc_module_info", METRIC_INFO, "",
			    "What the smc module says about itself: highest version of the protocol, release, ISMv2 and SMC-Rv2." },
	[M_TX_BYTES] = { "smc_transmit_bytes_total", METRIC_COUNTER, "bytes",
			 "Bytes that applications sent over SMC." },
	[M_RX_BYTES] = { "smc_receive_bytes_total", METRIC_COUNTER, "bytes",
			 "Bytes that applications received over SMC." },
	[M_TX_REQUESTS] = { "smc_transmit_requests_total", METRIC_COUNTER, "", "Send calls, failed ones included." },
	[M_RX_REQUESTS] = { "smc_receive_requests_total", METRIC_COUNTER, "", "Receive calls, failed ones included." },
	[M_TX_SIZE] = { "smc_transmit_request_size_bytes", METRIC_HISTOGRAM, "bytes",
			"Requested length of send calls that sent something. No sum: the kernel adds up what was sent, not what was requested." },
	[M_RX_SIZE] = { "smc_receive_size_bytes", METRIC_HISTOGRAM, "bytes", "Bytes that receive calls returned." },
	[M_BUF_SIZE] = { "smc_buffer_request_size_bytes", METRIC_HISTOGRAM, "bytes",
			 "Size of buffers given to connections, new or reused, since the start; not what is in use. No sum: the kernel keeps none." },
	[M_BUF_FULL] = { "smc_buffer_full_total", METRIC_COUNTER, "",
			 "Times a buffer was full (side=\"peer\": the peer's) and the transfer had to wait." },
	[M_BUF_SMALL] = { "smc_buffer_too_small_total", METRIC_COUNTER, "",
			  "Requests larger than the buffer (side=\"peer\": than the peer's)." },
	[M_BUF_ALLOCS] = { "smc_buffer_allocations_total", METRIC_COUNTER, "", "Buffers that were newly allocated." },
	[M_BUF_REUSES] = { "smc_buffer_reuses_total", METRIC_COUNTER, "",
			   "Buffers that were taken over from an earlier connection." },
	[M_BUF_DOWNGRADES] = { "smc_buffer_downgrades_total", METRIC_COUNTER, "",
			       "Buffers that came out smaller than configured because memory was short." },
	[M_BUF_USED] = { "smc_buffer_used_bytes", METRIC_GAUGE, "bytes", "Bytes of buffers that connections use now." },
	[M_UNCORKS] = { "smc_uncork_calls_total", METRIC_COUNTER, "", "Calls that cleared TCP_CORK." },
	[M_NODELAYS] = { "smc_nodelay_calls_total", METRIC_COUNTER, "", "Calls that set TCP_NODELAY." },
	[M_SPLICES] = { "smc_splice_calls_total", METRIC_COUNTER, "", "Receive calls by splice." },
	[M_URGENT] = { "smc_urgent_data_total", METRIC_COUNTER, "", "Urgent data sent or received." },
	[M_HS_OK] = { "smc_handshake_successes_total", METRIC_COUNTER, "",
		      "Handshakes that led to an SMC connection." },
	[M_HS_ERR] = { "smc_handshake_errors_total", METRIC_COUNTER, "",
		       "Handshakes that failed with an error (no fallback either); not split by technology." },
	[M_FALLBACKS] = { "smc_fallbacks_total", METRIC_COUNTER, "", "Connections that fell back to TCP." },
	[M_FALLBACK_REASONS] = { "smc_fallback_reasons_total", METRIC_COUNTER, "",
				 "Connections that fell back to TCP by reason. An unpatched kernel counts in 16 bits: wraps at 65536." },
	[M_LGRS] = { "smc_link_groups", METRIC_GAUGE, "", "Link groups, of all namespaces." },
	[M_LINKS] = { "smc_links", METRIC_GAUGE, "", "SMC-R links by state, of all namespaces." },
	[M_CONNS] = { "smc_connections", METRIC_GAUGE, "", "Connections in link groups, of all namespaces." },
	[M_DEV_LGRS] = { "smc_device_link_groups", METRIC_GAUGE, "", "SMC-D link groups on a device." },
	[M_DEV_ACTIVE] = { "smc_device_port_active", METRIC_GAUGE, "",
			   "1 when the port of the RDMA device is active." },
	[M_DEV_INFO] = { "smc_device_info", METRIC_INFO, "",
			 "Devices that SMC can use, with their physical network ID." },
	[M_POOL_BUFFERS] = { "smc_pool_buffers", METRIC_GAUGE, "",
			     "Buffers of the link groups by size: in use, or free for the next connection. With smc_tune." },
	[M_POOL_BYTES] = { "smc_pool_bytes", METRIC_GAUGE, "bytes", "Bytes of these buffers. With smc_tune." },
	[M_POOL_REUSES] = { "smc_pool_reuses", METRIC_GAUGE, "",
			    "Times that a free buffer was taken, of the link groups there are: falls when one goes. With smc_tune." },
	[M_POOL_ALLOCATIONS] = { "smc_pool_allocations", METRIC_GAUGE, "",
				 "Times that a buffer was added, of the link groups there are: falls when one goes. With smc_tune." },
	[M_POOL_DOWNGRADES] = { "smc_pool_downgrades", METRIC_GAUGE, "",
				"Times that there was no memory for a buffer of the size, of the link groups there are. With smc_tune." },
	[M_POOL_CONTENDED] = { "smc_pool_contended", METRIC_GAUGE, "",
			       "Times that the lock of a pool was waited for, of the link groups there are. With smc_tune." },
	[M_CORK_HELD] = { "smc_cork_held_writes_total", METRIC_COUNTER, "",
			  "Writes that were held for more to come, by cause. With smc_tune." },
	[M_CORK_SENT] = { "smc_cork_flushes_total", METRIC_COUNTER, "",
			  "Transmissions of what was held, by cause. With smc_tune." },
	[M_CORK_SIZE] = { "smc_cork_flush_size_bytes", METRIC_HISTOGRAM, "bytes", "Bytes of these transmissions. With smc_tune." },
	[M_PAST_CACHE_WRITES] = { "smc_past_cache_writes_total", METRIC_COUNTER, "",
				  "Copies past the cache of the CPU, see the knob tx_nocache_min. With smc_tune." },
	[M_PAST_CACHE_BYTES] = { "smc_past_cache_bytes_total", METRIC_COUNTER, "bytes",
				 "Bytes that were copied past the cache of the CPU. With smc_tune." },
	[M_HS_QUEUED] = { "smc_handshakes_queued", METRIC_GAUGE, "",
			  "Handshakes that wait for a worker or, of servers, for the peer's proposal. With smc_tune." },
	[M_HS_ACTIVE] = { "smc_handshakes_active", METRIC_GAUGE, "", "Handshakes that are worked on. With smc_tune." },
	[M_HS_WORKERS] = { "smc_handshake_workers_max", METRIC_GAUGE, "",
			   "Handshakes that are worked on at most, for each CPU and role, of all namespaces. With smc_tune." },
	[M_HS_TIME] = { "smc_handshake_duration_seconds", METRIC_HISTOGRAM, "seconds",
			"Time from connect(), or from the accepting of the TCP connection, to the SMC connection. With smc_tune." },
	[M_HS_REASONS] = { "smc_handshake_fallback_reasons_total", METRIC_COUNTER, "",
			   "Connections that fell back to TCP, by this host's reason and the peer's; without a code: the kernel's table was full. With smc_tune." },
	[M_SCRAPE_SUCCESS] = { "smcd_scrape_success", METRIC_GAUGE, "",
			       "1 when this part of the exposition could be read." },
	[M_SCRAPE_DURATION] = { "smcd_scrape_duration_seconds", METRIC_GAUGE, "seconds",
				"Time that reading this part took." },
	[M_NL_ERRORS] = { "smcd_netlink_errors_total", METRIC_COUNTER, "",
			  "Netlink requests of this process that failed." },
	[M_BUILD_INFO] = { "smcd_build_info", METRIC_INFO, "", "Version of smcd or smcctl." },
	[M_POLICY_OK] = { "smcd_policy_last_apply_successful", METRIC_GAUGE, "",
			  "1 when the last apply of the policy succeeded." },
	[M_POLICY_TIME] = { "smcd_policy_last_apply_success_timestamp_seconds", METRIC_GAUGE, "seconds",
			    "When the policy was last applied successfully." },
	[M_POLICY_DRIFT] = { "smcd_policy_drift_settings", METRIC_GAUGE, "",
			     "Settings whose value in the kernel is neither the policy's nor an override's." },
	[M_POLICY_GENERATION] = { "smcd_policy_generation", METRIC_GAUGE, "",
				  "Policies loaded since the start of smcd." },
	[M_POLICY_APPLIES] = { "smcd_policy_applies_total", METRIC_COUNTER, "", "Applies of the policy by result." },
};
/* clang-format on */

const uint64_t bucket_bounds[N_BUCKETS] = {
	8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, UINT64_MAX,
};

#define SEND "buffer=\"send\""
#define RECEIVE "buffer=\"receive\""
#define LOCAL ",side=\"local\""
#define PEER ",side=\"peer\""
#define TX_RMB(attr)                                                                                                   \
	{                                                                                                              \
		SMC_NLA_STATS_T_TX_RMB_STATS, SMC_NLA_STATS_RMB_##attr                                                 \
	}
#define RX_RMB(attr)                                                                                                   \
	{                                                                                                              \
		SMC_NLA_STATS_T_RX_RMB_STATS, SMC_NLA_STATS_RMB_##attr                                                 \
	}

/* Rows of one metric stand together: the exposition must not split a family. SENDPAGE is always 0 since 6.5: left out.
 */
/* clang-format off */
const struct counter stats_table[] = {
	{ "tx_bytes", M_TX_BYTES, "", .path = { SMC_NLA_STATS_T_TX_BYTES } },
	{ "rx_bytes", M_RX_BYTES, "", .path = { SMC_NLA_STATS_T_RX_BYTES } },
	{ "tx_requests", M_TX_REQUESTS, "", .path = { SMC_NLA_STATS_T_TX_CNT } },
	{ "rx_requests", M_RX_REQUESTS, "", .path = { SMC_NLA_STATS_T_RX_CNT } },
	{ "tx_size", M_TX_SIZE, "", .histogram = true, .path = { SMC_NLA_STATS_T_TXPLOAD_SIZE } },
	{ "rx_size", M_RX_SIZE, "", .histogram = true, .path = { SMC_NLA_STATS_T_RXPLOAD_SIZE },
	  .sum_key = "rx_bytes" },
	{ "send_buffer_size", M_BUF_SIZE, SEND, .histogram = true, .path = { SMC_NLA_STATS_T_TX_RMB_SIZE } },
	{ "receive_buffer_size", M_BUF_SIZE, RECEIVE, .histogram = true, .path = { SMC_NLA_STATS_T_RX_RMB_SIZE } },
	{ "send_buffer_full", M_BUF_FULL, SEND LOCAL, .path = TX_RMB(FULL_CNT) },
	{ "send_buffer_full_peer", M_BUF_FULL, SEND PEER, .path = TX_RMB(FULL_PEER_CNT) },
	{ "receive_buffer_full", M_BUF_FULL, RECEIVE LOCAL, .path = RX_RMB(FULL_CNT) },
	{ "receive_buffer_full_peer", M_BUF_FULL, RECEIVE PEER, .path = RX_RMB(FULL_PEER_CNT) },
	{ "send_buffer_too_small", M_BUF_SMALL, SEND LOCAL, .path = TX_RMB(SIZE_SM_CNT) },
	{ "send_buffer_too_small_peer", M_BUF_SMALL, SEND PEER, .path = TX_RMB(SIZE_SM_PEER_CNT) },
	{ "receive_buffer_too_small", M_BUF_SMALL, RECEIVE LOCAL, .path = RX_RMB(SIZE_SM_CNT) },
	{ "receive_buffer_too_small_peer", M_BUF_SMALL, RECEIVE PEER, .path = RX_RMB(SIZE_SM_PEER_CNT) },
	{ "send_buffer_allocations", M_BUF_ALLOCS, SEND, .path = TX_RMB(ALLOC_CNT) },
	{ "receive_buffer_allocations", M_BUF_ALLOCS, RECEIVE, .path = RX_RMB(ALLOC_CNT) },
	{ "send_buffer_reuses", M_BUF_REUSES, SEND, .path = TX_RMB(REUSE_CNT) },
	{ "receive_buffer_reuses", M_BUF_REUSES, RECEIVE, .path = RX_RMB(REUSE_CNT) },
	{ "send_buffer_downgrades", M_BUF_DOWNGRADES, SEND, .path = TX_RMB(DGRADE_CNT) },
	{ "receive_buffer_downgrades", M_BUF_DOWNGRADES, RECEIVE, .path = RX_RMB(DGRADE_CNT) },
	{ "send_buffer_used", M_BUF_USED, SEND, .path = { SMC_NLA_STATS_T_TX_RMB_USAGE } },
	{ "receive_buffer_used", M_BUF_USED, RECEIVE, .path = { SMC_NLA_STATS_T_RX_RMB_USAGE } },
	{ "uncorks", M_UNCORKS, "", .path = { SMC_NLA_STATS_T_CORK_CNT } },
	{ "nodelays", M_NODELAYS, "", .path = { SMC_NLA_STATS_T_NDLY_CNT } },
	{ "splices", M_SPLICES, "", .path = { SMC_NLA_STATS_T_SPLICE_CNT } },
	{ "urgent_data", M_URGENT, "", .path = { SMC_NLA_STATS_T_URG_DATA_CNT } },
	{ "client_handshakes_v1", M_HS_OK, "role=\"client\",smc_version=\"1\"",
	  .path = { SMC_NLA_STATS_T_CLNT_V1_SUCC } },
	{ "client_handshakes_v2", M_HS_OK, "role=\"client\",smc_version=\"2\"",
	  .path = { SMC_NLA_STATS_T_CLNT_V2_SUCC } },
	{ "server_handshakes_v1", M_HS_OK, "role=\"server\",smc_version=\"1\"",
	  .path = { SMC_NLA_STATS_T_SRV_V1_SUCC } },
	{ "server_handshakes_v2", M_HS_OK, "role=\"server\",smc_version=\"2\"",
	  .path = { SMC_NLA_STATS_T_SRV_V2_SUCC } },
	{ "client_handshake_errors", M_HS_ERR, "role=\"client\"", .global = true,
	  .path = { SMC_NLA_STATS_CLNT_HS_ERR_CNT } },
	{ "server_handshake_errors", M_HS_ERR, "role=\"server\"", .global = true,
	  .path = { SMC_NLA_STATS_SRV_HS_ERR_CNT } },
};
/* clang-format on */

const size_t n_stats = ARRAY_SIZE(stats_table);

int stats_init(struct stats *s)
{
	s->v = calloc(n_stats, sizeof(*s->v));
	return s->v ? 0 : -ENOMEM;
}

void stats_done(struct stats *s)
{
	free(s->v);
	s->v = NULL;
}
