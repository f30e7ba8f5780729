/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * published_weights.h - the wait-for graphs that wPerf's authors measured (technical report,
 * appendix A), in seconds of a run of 90 s.  Their table 4, HBase with 10 handlers, is left out: the
 * text at hand has lost its first column.
 */
#ifndef TESTS_UNIT_ANALYSIS_PUBLISHED_WEIGHTS_H
#define TESTS_UNIT_ANALYSIS_PUBLISHED_WEIGHTS_H

struct published {
	const char *from, *to;
	double seconds;
};

/* Table 5: Edge weights of HBase with 60 handlers */
static const struct published hbase_60[] = {
	{ "VMThread", "Handler", 996.74 }, { "RespProc(Log)", "NIC", 596.38 },
	{ "ConcurrentGC", "VMThread", 359.80 }, { "LogRoller", "Handler", 230.73 },
	{ "IPC Client(HDFS)", "NIC", 225.56 }, { "CacheFlusher", "Handler", 206.35 },
	{ "VMThread", "ParallelGC", 203.68 }, { "Streamer(Log)", "Handler", 110.11 },
	{ "RespProc(MemStore)", "Streamer(MemStore)", 93.53 },
	{ "ParallelGC", "VMThread", 86.10 }, { "ParallelCMS", "ConcurrentGC", 83.11 },
	{ "Streamer(MemStore)", "CacheFlusher", 82.97 },
	{ "IPC Client(HDFS)", "VMThread", 79.97 }, { "RespProc(Log)", "Handler", 75.29 },
	{ "RespProc(Log)", "VMThread", 56.60 }, { "LogRoller", "RespProc(Log)", 55.29 },
	{ "Streamer(Log)", "NIC", 46.02 }, { "Streamer(Log)", "RespProc(Log)", 45.08 },
	{ "NIC", "Streamer(Log)", 36.94 }, { "RespProc(Log)", "IPC Client(HDFS)", 28.67 },
	{ "VMThread", "CacheFlusher", 26.96 }, { "RespProc(Log)", "Streamer(Log)", 25.82 },
	{ "Streamer(MemStore)", "NIC", 23.36 }, { "IPC Client(HDFS)", "RespProc(Log)", 22.39 },
	{ "IPC Client(HDFS)", "Handler", 21.13 },
	{ "CacheFlusher", "RespProc(MemStore)", 18.94 }, { "VMThread", "LogRoller", 17.61 },
	{ "Handler", "RespProc(Log)", 16.54 }, { "RespProc(MemStore)", "NIC", 14.09 },
	{ "CacheFlusher", "NIC", 13.24 }, { "CacheFlusher", "LogRoller", 10.90 },
	{ "NIC", "Streamer(MemStore)", 10.70 }, { "VMThread", "NIC", 8.30 },
	{ "CacheFlusher", "Streamer(MemStore)", 8.16 }, { "VMThread", "IPC Client(HDFS)", 6.55 },
	{ "Handler", "Streamer(Log)", 5.70 }, { "VMThread", "RespProc(Log)", 5.03 },
	{ "Handler", "IPC Client(HDFS)", 4.84 }, { "Streamer(Log)", "LogRoller", 3.45 },
	{ "VMThread", "ConcurrentGC", 3.14 }, { "RespProc(Log)", "RespProc(MemStore)", 3.02 },
	{ "Handler", "VMThread", 2.73 }, { "NIC", "Handler", 2.40 },
	{ "VMThread", "Streamer(Log)", 2.19 },
};

/* Table 6: Edge weights of ZooKeeper with readonly workload */
static const struct published zookeeper_read[] = {
	{ "ParallelGC", "ParallelGC", 2463.49 }, { "VMThread", "SyncThread", 416.98 },
	{ "ProcessThread", "NIOServerCxn", 291.52 }, { "VMThread", "NIOServerCxn", 202.48 },
	{ "SyncThread", "ProcessThread", 199.81 }, { "VMThread", "ProcessThread", 177.22 },
	{ "NIOServerCxn", "NIC", 110.86 }, { "ParallelGC", "VMThread", 88.92 },
	{ "NIOServerCxn", "SyncThread", 18.72 }, { "CompilerThread", "NIOServerCxn", 15.03 },
	{ "CompilerThread", "SyncThread", 14.98 }, { "NIC", "SyncThread", 4.30 },
	{ "VMThread", "ParallelGC", 3.31 }, { "NIC", "NIOServerCxn", 3.04 },
	{ "NIOServerCxn", "VMThread", 2.01 }, { "SyncThread", "VMThread", 1.07 },
	{ "SyncThread", "NIOServerCxn", 1.05 }, { "ProcessThread", "VMThread", 0.87 },
	{ "NIOServerCxn", "ProcessThread", 0.26 }, { "ProcessThread", "SyncThread", 0.02 },
};

/* Table 7: Edge weights of ZooKeeper with 0.1% write workload */
static const struct published zookeeper_write[] = {
	{ "ParallelGC", "ParallelGC", 2548.91 }, { "JBDThread", "Disk", 767.39 },
	{ "SyncThread", "JBDThread", 721.92 }, { "NIOServerCxn", "SyncThread", 561.17 },
	{ "VMThread", "SyncThread", 369.92 }, { "SyncThread", "Disk", 272.87 },
	{ "ProcessThread", "NIOServerCxn", 262.45 }, { "VMThread", "NIOServerCxn", 241.97 },
	{ "VMThread", "ProcessThread", 199.60 }, { "ParallelGC", "VMThread", 91.70 },
	{ "Disk", "JBDThread", 60.97 }, { "NIC", "SyncThread", 44.56 },
	{ "JBDThread", "SyncThread", 43.09 }, { "Disk", "SyncThread", 21.68 },
	{ "CompilerThread", "SyncThread", 20.26 }, { "CompilerThread", "NIOServerCxn", 13.48 },
	{ "CompilerThread", "ProcessThread", 8.31 }, { "VMThread", "ParallelGC", 3.13 },
	{ "SyncThread", "VMThread", 2.79 }, { "NIOServerCxn", "VMThread", 1.36 },
	{ "ProcessThread", "VMThread", 0.66 }, { "NIOServerCxn", "ProcessThread", 0.34 },
	{ "SyncThread", "NIOServerCxn", 0.26 }, { "SyncThread", "ProcessThread", 0.05 },
	{ "VMPeriodicThread", "Disk", 0.03 }, { "ProcessThread", "SyncThread", 0.02 },
};

/* Table 8: Edge weights of HDFS NameNode */
static const struct published hdfs[] = {
	{ "Handler", "Handler", 4516.08 }, { "ParallelGC", "ParallelGC", 2507.06 },
	{ "VMThread", "Handler", 206.31 }, { "SocketReader", "Handler", 133.39 },
	{ "BlockReportProc", "Handler", 108.25 }, { "Handler", "Disk", 100.64 },
	{ "NIC", "Handler", 89.58 }, { "ParallelGC", "VMThread", 89.40 },
	{ "Disk", "Handler", 81.78 }, { "JBDThread", "Handler", 78.97 },
	{ "VMThread", "SocketReader", 49.32 }, { "VMThread", "VMThread1", 11.17 },
	{ "JBDThread", "Disk", 9.38 }, { "VMThread", "BlockReportProc", 7.07 },
	{ "JBDThread", "BlockReportProc", 4.94 }, { "VMThread", "ParallelGC", 2.43 },
	{ "Handler", "BlockReportProc", 0.89 }, { "Disk", "JBDThread", 0.76 },
	{ "Handler", "VMThread", 0.25 }, { "SocketReader", "VMThread", 0.24 },
	{ "BlockReportProc", "SocketReader", 0.11 }, { "BlockReportProc", "VMThread", 0.11 },
	{ "Kworker", "Disk", 0.07 }, { "Handler", "SocketReader", 0.02 },
	{ "VMThread1", "VMThread", 0.01 }, { "Disk", "Kworker", 0.01 },
};

/* Table 9: Edge weights of NFS client */
static const struct published nfs[] = {
	{ "KworkerHP(Recv)", "NIC", 587.24 }, { "Kworker(Recv)", "KworkerHP(Recv)", 385.96 },
	{ "Grep", "Kworker(Recv)", 261.49 }, { "Grep", "KworkerHP(Recv)", 112.74 },
	{ "Kworker1(TTY)", "Grep", 90.61 }, { "Kworker(Send)", "Grep", 89.07 },
	{ "Kworker2(TTY)", "Grep", 87.77 }, { "NIC", "Kworker(Send)", 61.27 },
	{ "NIC", "Grep", 22.77 }, { "Kworker3(TTY)", "Grep", 19.11 },
	{ "NIC", "Kworker(Recv)", 5.13 }, { "NIC", "KworkerHP(Send)", 0.30 },
	{ "KworkerHP(Send)", "Grep", 0.10 }, { "NIC", "KworkerHP(Recv)", 0.02 },
	{ "KworkerHP(Send)", "Kworker(Send)", 0.02 },
};

/* Table 10: Edge weights of BlockGrace with the SSSP workload */
static const struct published blockgrace[] = {
	{ "Worker", "Main", 64.99 }, { "Main", "Worker", 301.99 },
};

/* Table 11: Edge weights of Memcached */
static const struct published memcached[] = {
	{ "Worker", "Worker", 3.85 }, { "NIC", "Worker", 88.25 },
};

/* Table 12: Edge weights of MySQL on disk */
static const struct published mysql_disk[] = {
	{ "KworkerHP", "KworkerHP", 1033.50 }, { "JBDThread", "Disk", 719.38 },
	{ "PurgeCoord", "Worker", 330.61 }, { "Worker", "Worker", 279.16 },
	{ "NIC", "Worker", 89.90 }, { "Worker", "IOThread", 78.83 },
	{ "CleanerCoord", "JBDThread", 68.66 }, { "Worker", "JBDThread", 64.45 },
	{ "Disk", "KworkerHP", 62.80 }, { "KworkerHP", "Disk", 41.65 },
	{ "MasterThread", "IOThread", 31.84 }, { "Disk", "JBDThread", 16.19 },
	{ "MasterThread", "JBDThread", 14.75 }, { "IOThread", "CleanerCoord", 13.62 },
	{ "JBDThread", "Worker", 9.51 }, { "CleanerCoord", "Disk", 8.46 },
	{ "JBDThread", "MasterThread", 7.41 }, { "IOThread", "IOThread", 7.02 },
	{ "MasterThread", "Worker", 6.34 }, { "JBDThread", "CleanerCoord", 5.52 },
	{ "IOThread", "Worker", 4.49 }, { "Worker", "NIC", 3.69 },
	{ "IOThread", "MasterThread", 2.98 }, { "CleanerCoord", "Worker", 2.33 },
	{ "Worker", "MasterThread", 1.73 }, { "Kworker", "Disk", 1.14 },
	{ "Worker", "Disk", 0.67 }, { "MasterThread", "CleanerCoord", 0.53 },
	{ "CleanerCoord", "MasterThread", 0.47 }, { "MasterThread", "Disk", 0.44 },
	{ "Disk", "CleanerCoord", 0.19 }, { "Disk", "Worker", 0.09 },
	{ "JBDThread", "Kworker", 0.89 }, { "Worker", "CleanerCoord", 0.08 },
	{ "Disk", "Kworker", 0.03 }, { "Disk", "MasterThread", 0.01 },
};

/* Table 13: Edge weights of MySQL in memory (128MB buffer) */
static const struct published mysql_memory[] = {
	{ "Worker", "Worker", 1378.99 }, { "PurgerCoord", "Worker", 228.30 },
	{ "IOThread", "IOThread", 106.43 }, { "SrvWorker", "PurgerCoord", 83.96 },
	{ "Cleaner", "Worker", 79.87 }, { "NIC", "Worker", 75.07 },
	{ "IOThread", "Cleaner", 67.85 }, { "IOThread", "Worker", 53.80 },
	{ "DictThread", "Worker", 35.01 }, { "PurgerCoord", "IOThread", 17.37 },
	{ "Worker", "IOThread", 16.70 }, { "Worker", "NIC", 14.49 },
	{ "SrvWorker", "IOThread", 11.59 }, { "LockWait", "Worker", 11.39 },
	{ "SrvWorker", "SrvWorker", 11.21 }, { "PurgerCoord", "SrvWorker", 6.73 },
	{ "Cleaner", "IOThread", 5.41 }, { "SrvWorker", "Worker", 5.09 },
	{ "IOThread", "PurgerCoord", 0.92 }, { "Worker", "SrvWorker", 0.92 },
	{ "SrvMaster", "Worker", 0.86 }, { "Worker", "Cleaner", 0.71 },
	{ "PurgerCoord", "Cleaner", 0.66 }, { "Cleaner", "SrvWorker", 0.42 },
	{ "Worker", "PurgerCoord", 0.36 }, { "Cleaner", "PurgerCoord", 0.34 },
	{ "SrvWorker", "Cleaner", 0.08 }, { "Cleaner", "SrvMaster", 0.07 },
	{ "SrvMaster", "Cleaner", 0.05 }, { "DictThread", "PurgerCoord", 0.03 },
	{ "PurgerCoord", "DictThread", 0.02 }, { "Worker", "DictThread", 0.01 },
	{ "Cleaner", "DictThread", 0.01 }, { "DictThread", "SrvWorker", 0.01 },
	{ "Worker", "SrvMaster", 0.01 }, { "IOThread", "DictThread", 0.01 },
	{ "SrvWorker", "DictThread", 0.00 },
};

#endif
