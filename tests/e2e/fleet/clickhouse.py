#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""clickhouse.py N COMMAND...: runs COMMAND with N servers of ClickHouse on loopback, in the current directory.

They form the cluster "fleet", a shard each.  $CLICKHOUSE_PORTS has their ports.  Exit status 77, and a sentence, where they cannot start."""
import os, signal, socket, subprocess, sys, time

CONFIG = """<yandex><logger><level>warning</level><log>{dir}/log</log><errorlog>{dir}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>{tcp}</tcp_port><http_port>{http}</http_port><interserver_http_port>{inter}</interserver_http_port>
<path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path><user_files_path>{dir}/files/</user_files_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
<timezone>Europe/Berlin</timezone>
<remote_servers><fleet>{shards}</fleet></remote_servers></yandex>
"""
USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage><max_threads>1</max_threads></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default></default></quotas></yandex>
"""

def free_ports(cnt):
    sockets = [socket.socket() for _ in range(cnt)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports

def start(number, ports, shards):
    top = os.path.abspath("server%d" % number)
    os.makedirs(top + "/files", exist_ok=True)
    for name, text in ("config.xml", CONFIG.format(dir=top, tcp=ports[0], http=ports[1], inter=ports[2], shards=shards)), ("users.xml", USERS):
        with open(os.path.join(top, name), "w") as f:
            f.write(text)
    with open(top + "/out", "w") as out:
        return subprocess.Popen(["clickhouse-server", "--config-file", top + "/config.xml"], cwd=top, stdout=out, stderr=out,
                                stdin=subprocess.DEVNULL, start_new_session=True)

def answers(port):
    return subprocess.run(["clickhouse-client", "--host", "127.0.0.1", "--port", str(port), "--query", "SELECT 1"],
                          capture_output=True).stdout == b"1\n"

def main():
    cnt = int(sys.argv[1])
    ports = [free_ports(3) for _ in range(cnt)]
    shards = "".join("<shard><replica><host>127.0.0.1</host><port>%d</port></replica></shard>" % p[0] for p in ports)
    servers = [start(i, p, shards) for i, p in enumerate(ports)]
    try:
        end = time.time() + 120
        while not all(answers(p[0]) for p in ports):
            if time.time() > end or any(s.poll() is not None for s in servers):
                print("clickhouse-server does not start here: %s" % open("server0/out").read()[-300:], file=sys.stderr)
                return 77
            time.sleep(0.3)
        return subprocess.run(sys.argv[2:], env=dict(os.environ, CLICKHOUSE_PORTS=" ".join(str(p[0]) for p in ports))).returncode
    finally:
        for s in servers:
            os.killpg(s.pid, signal.SIGKILL)
            s.wait()

sys.exit(main())
