"""Names of devices as drivers and people write them, with the row of the table that each stands for.

device_names.py DATA writes tests/fixtures/device_names.csv: the power of that row, taken by its label and not by the
look-up of the program; empty for a device that the tables do not have, which must not be answered with another.
"""

import csv
import pathlib
import sys

from table import read_table, write

data = pathlib.Path(sys.argv[1])

# NVML prefixes the maker's name since driver 450; the label is that of the table.
NVML = """
GeForce GTX 1050 Ti;GeForce GTX 1070;GeForce GTX 1070 Ti;GeForce GTX 1080;GeForce GTX 1080 Ti;GeForce GTX 1650 SUPER
GeForce GTX 1660 SUPER;GeForce GTX 1660 Ti;GeForce GTX 980 Ti
GeForce RTX 2060 SUPER;GeForce RTX 2070;GeForce RTX 2070 SUPER;GeForce RTX 2080;GeForce RTX 2080 SUPER
GeForce RTX 2080 Ti;GeForce RTX 3070;GeForce RTX 3070 Ti;GeForce RTX 3080 Ti;GeForce RTX 3090
GeForce RTX 3090 Ti;GeForce RTX 4060;GeForce RTX 4070;GeForce RTX 4070 SUPER;GeForce RTX 4070 Ti
GeForce RTX 4070 Ti SUPER;GeForce RTX 4080;GeForce RTX 4080 SUPER;GeForce RTX 4090;GeForce RTX 4090 D
GeForce RTX 5050;GeForce RTX 5060;GeForce RTX 5070;GeForce RTX 5070 Ti;GeForce RTX 5080;GeForce RTX 5090;GeForce RTX 5090 D
TITAN RTX;TITAN V;TITAN Xp;RTX A4000;RTX A4500;RTX A5000;RTX A5500;RTX A6000
RTX 2000 Ada Generation;RTX 4000 Ada Generation;RTX 4000 SFF Ada Generation;RTX 4500 Ada Generation
RTX 5000 Ada Generation;RTX 5880 Ada Generation;RTX 6000 Ada Generation;RTX PRO 4000 Blackwell
RTX PRO 6000 Blackwell Workstation Edition;RTX PRO 6000 Blackwell Server Edition
RTX PRO 6000 Blackwell Max-Q Workstation Edition;A10G;A2;L4;L40;L40S;L20;H200;H200 NVL;B200;B300;GB200;GB300;T1000
GH200 480GB
"""
# Older drivers give no maker.
BARE = """
Tesla K80;Tesla K40m;Tesla K20m;Tesla M40;Tesla M60;Tesla P4;Tesla P40;Tesla T4;Quadro P4000;Quadro P5000
Quadro P6000;Quadro GV100;Quadro RTX 4000;Quadro RTX 5000;Quadro RTX 6000;Quadro RTX 8000;GeForce GTX TITAN X
"""
LAPTOP = """
GeForce RTX 3060;GeForce RTX 3070;GeForce RTX 3070 Ti;GeForce RTX 3080;GeForce RTX 3080 Ti;GeForce RTX 4050
GeForce RTX 4060;GeForce RTX 4070;GeForce RTX 4080;GeForce RTX 4090;GeForce RTX 5060;GeForce RTX 5070;GeForce RTX 5070 Ti
GeForce RTX 5080;GeForce RTX 5090;RTX A4000;RTX A5000
"""
ACCELERATORS = {
    "NVIDIA A100-SXM4-40GB": "A100 SXM4 40 GB",
    "NVIDIA A100-SXM4-80GB": "A100 SXM4 80 GB",
    "A100-SXM4-40GB": "A100 SXM4 40 GB",
    "NVIDIA A100-PCIE-40GB": "A100 PCIe 40 GB",
    "NVIDIA A100 80GB PCIe": "A100 PCIe 80 GB",
    "NVIDIA A800-SXM4-80GB": "A800 SXM4 80 GB",
    "NVIDIA A10": "A10 PCIe",
    "NVIDIA A16": "A16 PCIe",
    "NVIDIA A30": "A30 PCIe",
    "NVIDIA A40": "A40 PCIe",
    "NVIDIA H100 80GB HBM3": "H100 SXM5 80 GB",
    "NVIDIA H100 PCIe": "H100 PCIe 80 GB",
    "NVIDIA H100 NVL": "H100 NVL 94 GB",
    "Tesla V100-SXM2-16GB": "Tesla V100 SXM2 16 GB",
    "Tesla V100-SXM2-32GB": "Tesla V100 SXM2 32 GB",
    "Tesla V100-PCIE-16GB": "Tesla V100 PCIe 16 GB",
    "Tesla V100-PCIE-32GB": "Tesla V100 PCIe 32 GB",
    "Tesla V100S-PCIE-32GB": "Tesla V100S PCIe 32 GB",
    "Tesla V100-SXM3-32GB": "Tesla V100 SXM3 32 GB",
    "Tesla P100-PCIE-16GB": "Tesla P100 PCIe 16 GB",
    "Tesla P100-PCIE-12GB": "Tesla P100 PCIe 12 GB",
    "Tesla P100-SXM2-16GB": "Tesla P100 SXM2",
    "NVIDIA GeForce GTX 1060 6GB": "GeForce GTX 1060 6 GB",
    "NVIDIA GeForce RTX 2080 with Max-Q Design": "GeForce RTX 2080 Max-Q",
    "NVIDIA GeForce RTX 5060 Ti": "GeForce RTX 5060 Ti 16 GB",
    "AMD Instinct MI100": "Radeon Instinct MI100",
    "AMD Instinct MI210": "Radeon Instinct MI210",
    "AMD Instinct MI250X": "Radeon Instinct MI250X",
    "AMD Instinct MI300A": "Radeon Instinct MI300A",
    "AMD Instinct MI300X": "Radeon Instinct MI300X",
    "AMD Instinct MI325X": "Radeon Instinct MI325X",
    "AMD Instinct MI355X": "Radeon Instinct MI355X",
    "AMD Radeon VII": "Radeon VII",
    "AMD Radeon RX 6800 XT": "Radeon RX 6800 XT",
    "AMD Radeon RX 6900 XT": "Radeon RX 6900 XT",
    "AMD Radeon RX 7900 XT": "Radeon RX 7900 XT",
    "AMD Radeon RX 7900 XTX": "Radeon RX 7900 XTX",
    "AMD Radeon RX 9070 XT": "Radeon RX 9070 XT",
    "AMD Radeon PRO W7900": "Radeon PRO W7900",
    "Intel(R) Data Center GPU Max 1550": "Data Center GPU Max 1550",
    "Intel(R) Data Center GPU Flex 170": "Data Center GPU Flex 170",
    "Intel(R) Arc(TM) A770 Graphics": "Arc A770",
    "Intel(R) Arc(TM) B580 Graphics": "Arc B580",
    "HL-225": "Gaudi 2 HL-225",
    "Gaudi2": "Gaudi 2 HL-225",
    "Gaudi3": "Gaudi 3 HL-325",
    "Google TPU v2": "TPU v2",
    "Google TPU v3": "TPU v3",
    "Google TPU v4": "TPU v4",
    "Google TPU v5e": "TPU v5e",
    "AWS Trainium2": "Trainium2",
    "RTX3090": "GeForce RTX 3090",
    "rtx 2080ti": "GeForce RTX 2080 Ti",
    "1080ti": "GeForce GTX 1080 Ti",
    # Not in the tables, or of more than one power by this name.
    "AWS Inferentia2": None,
    "AWS Trainium": None,
    "TPU v5p": None,
    "NVIDIA GeForce RTX 4060 Ti": None,
}
AMD_CORES = """
EPYC 7302 16;EPYC 7313 16;EPYC 7351 16;EPYC 7401P 24;EPYC 7402 24;EPYC 7413 24;EPYC 7443 24;EPYC 7452 32
EPYC 7502 32;EPYC 7513 32;EPYC 7542 32;EPYC 7543 32;EPYC 7551 32;EPYC 7571 32;EPYC 7601 32;EPYC 7642 48;EPYC 7662 64
EPYC 7702 64;EPYC 7713 64;EPYC 7742 64;EPYC 7763 64;EPYC 7773X 64;EPYC 7B12 64;EPYC 7H12 64;EPYC 9254 24
EPYC 9334 32;EPYC 9354 32;EPYC 9374F 32;EPYC 9454 48;EPYC 9534 64;EPYC 9554 64;EPYC 9654 96;EPYC 9684X 96;EPYC 9754 128
EPYC 9575F 64;EPYC 9655 96;EPYC 9755 128;EPYC 9965 192;EPYC 7R32 48;EPYC 7V12 64;EPYC 7V13 64;EPYC 7V73X 64;EPYC 9V33X 96
EPYC 9V74 80;Ryzen 5 3600 6;Ryzen 5 5600X 6;Ryzen 7 2700X 8;Ryzen 7 5800X 8;Ryzen 7 7700X 8
Ryzen 7 7800X3D 8;Ryzen 7 9800X3D 8;Ryzen 9 3900X 12;Ryzen 9 3950X 16;Ryzen 9 5900X 12;Ryzen 9 5950X 16;Ryzen 9 7900X 12
Ryzen 9 7950X 16;Ryzen 9 7950X3D 16;Ryzen 9 9950X 16;Ryzen Threadripper 1950X 16;Ryzen Threadripper 2990WX 32
Ryzen Threadripper 3960X 24;Ryzen Threadripper 3970X 32;Ryzen Threadripper 3990X 64;Ryzen Threadripper 7980X 64
"""
# Without the count of cores.
AMD_BARE = "EPYC 9R14;EPYC 9R45;EPYC 7B13"
AMD_CORES_PLURAL = """
Ryzen Threadripper PRO 3975WX 32;Ryzen Threadripper PRO 3995WX 64;Ryzen Threadripper PRO 5965WX 24
Ryzen Threadripper PRO 5975WX 32;Ryzen Threadripper PRO 5995WX 64;Ryzen Threadripper PRO 7995WX 96
"""
AMD_RADEON = """
Ryzen 5 5600G with Radeon Graphics;Ryzen 7 5700G with Radeon Graphics;Ryzen 7 5800H with Radeon Graphics
Ryzen 7 5800U with Radeon Graphics;Ryzen 9 5900HX with Radeon Graphics;Ryzen 7 7840U w/ Radeon 780M Graphics
Ryzen 9 7940HS w/ Radeon 780M Graphics;Ryzen 7 8845HS w/ Radeon 780M Graphics;Ryzen AI 9 HX 370 w/ Radeon 890M
Ryzen 5 3500U with Radeon Vega Mobile Gfx
"""
# The clock follows where Intel's processors name it.
INTEL_CLOCK = """
Xeon(R) CPU E5-2620 v4 @ 2.10GHz;Xeon(R) CPU E5-2630 v3 @ 2.40GHz;Xeon(R) CPU E5-2640 v4 @ 2.40GHz
Xeon(R) CPU E5-2650 v4 @ 2.20GHz;Xeon(R) CPU E5-2666 v3 @ 2.90GHz;Xeon(R) CPU E5-2670 0 @ 2.60GHz
Xeon(R) CPU E5-2676 v3 @ 2.40GHz;Xeon(R) CPU E5-2680 v4 @ 2.40GHz;Xeon(R) CPU E5-2686 v4 @ 2.30GHz
Xeon(R) CPU E5-2690 v4 @ 2.60GHz;Xeon(R) CPU E5-2697 v4 @ 2.30GHz;Xeon(R) CPU E5-2698 v4 @ 2.20GHz
Xeon(R) CPU E5-2699 v4 @ 2.20GHz;Xeon(R) Gold 5118 CPU @ 2.30GHz;Xeon(R) Gold 6126 CPU @ 2.60GHz
Xeon(R) Gold 6130 CPU @ 2.10GHz;Xeon(R) Gold 6140 CPU @ 2.30GHz;Xeon(R) Gold 6148 CPU @ 2.40GHz
Xeon(R) Gold 6152 CPU @ 2.10GHz;Xeon(R) Gold 6230 CPU @ 2.10GHz;Xeon(R) Gold 6240 CPU @ 2.60GHz
Xeon(R) Gold 6248 CPU @ 2.50GHz;Xeon(R) Gold 6248R CPU @ 3.00GHz;Xeon(R) Gold 6330 CPU @ 2.00GHz
Xeon(R) Gold 6338 CPU @ 2.00GHz;Xeon(R) Gold 6354 CPU @ 3.00GHz;Xeon(R) Platinum 8160 CPU @ 2.10GHz
Xeon(R) Platinum 8168 CPU @ 2.70GHz;Xeon(R) Platinum 8175M CPU @ 2.50GHz;Xeon(R) Platinum 8259CL CPU @ 2.50GHz
Xeon(R) Platinum 8252C CPU @ 3.80GHz;Xeon(R) Platinum 8275CL CPU @ 3.00GHz;Xeon(R) Platinum 8280 CPU @ 2.70GHz
Xeon(R) Platinum 8358 CPU @ 2.60GHz;Xeon(R) Platinum 8360Y CPU @ 2.40GHz;Xeon(R) Platinum 8370C CPU @ 2.80GHz
Xeon(R) Platinum 8375C CPU @ 2.90GHz;Xeon(R) Platinum 8380 CPU @ 2.30GHz;Xeon(R) Silver 4110 CPU @ 2.10GHz
Xeon(R) Silver 4210R CPU @ 2.40GHz;Xeon(R) Silver 4214 CPU @ 2.20GHz;Xeon(R) Silver 4314 CPU @ 2.40GHz
Core(TM) i5-6200U CPU @ 2.30GHz;Core(TM) i7-6700K CPU @ 4.00GHz;Core(TM) i7-7700 CPU @ 3.60GHz
Core(TM) i7-8550U CPU @ 1.80GHz;Core(TM) i7-8700K CPU @ 3.70GHz;Core(TM) i7-9700K CPU @ 3.60GHz
Core(TM) i9-7900X CPU @ 3.30GHz;Core(TM) i9-9900K CPU @ 3.60GHz;Core(TM) i9-10900K CPU @ 3.70GHz
Core(TM) i7-10750H CPU @ 2.60GHz
"""
INTEL = """
Xeon(R) Platinum 8462Y+;Xeon(R) Platinum 8468;Xeon(R) Platinum 8470;Xeon(R) Platinum 8480+;Xeon(R) Platinum 8480C
Xeon(R) Platinum 8488C;Xeon(R) Platinum 8581C;Xeon(R) Gold 6430;Xeon(R) 6980P;Core(TM) Ultra 7 155H
Core(TM) Ultra 9 285K
"""
GENERATIONS = """
11th Core(TM) i7-1165G7 @ 2.80GHz;11th Core(TM) i7-11800H @ 2.30GHz;12th Core(TM) i5-12600K;12th Core(TM) i7-1260P
12th Core(TM) i7-12700H;12th Core(TM) i9-12900K;13th Core(TM) i5-1335U;13th Core(TM) i9-13900K
"""
OTHERS = {
    "Apple M1": "Apple M1",
    "Apple M1 Max": "Apple M1 Max",
    "Apple M2 Pro": "Apple M2 Pro",
    "Ampere(R) Altra(R) Processor Q80-30": "Ampere Altra Q80-30",
    # Not in the tables, or the name of many processors.
    "AWS Graviton3": None,
    "Neoverse-N1": None,
    "Intel(R) Xeon(R) CPU @ 2.20GHz": None,
    "Intel(R) Xeon(R) Processor": None,
    "AMD EPYC Processor": None,
    "QEMU Virtual CPU version 2.5+": None,
}


def lines(text):
    return [part.strip() for line in text.split("\n") for part in line.split(";") if part.strip()]


def gpus():
    for label in lines(NVML):
        yield f"NVIDIA {label}", label
    for label in lines(BARE):
        yield label, label
    for label in lines(LAPTOP):
        yield f"NVIDIA {label} Laptop GPU", f"{label} Mobile"
    yield from ACCELERATORS.items()


def intel(name):
    """`Intel Xeon E5-2620 v4` for `Xeon(R) CPU E5-2620 v4 @ 2.10GHz`; the first generation has a 0 for its version."""
    label = name.split(" @")[0].replace("(R)", "").replace("(TM)", "")
    return "Intel " + " ".join(word for word in label.split() if word not in ("CPU", "0"))


def cpus():
    for form, suffix in ((AMD_CORES, "-Core Processor"), (AMD_CORES_PLURAL, "-Cores")):
        for text in lines(form):
            label, cores = text.rsplit(" ", 1)
            yield f"AMD {label} {cores}{suffix}", f"AMD {label}"
    for label in lines(AMD_BARE):
        yield f"AMD {label}", f"AMD {label}"
    for text in lines(AMD_RADEON):
        yield f"AMD {text}", "AMD " + text.split(" w")[0]
    for text in lines(INTEL_CLOCK) + lines(INTEL):
        yield f"Intel(R) {text}", intel(text)
    for text in lines(GENERATIONS):
        generation, name = text.split(" ", 1)
        yield f"{generation} Gen Intel(R) {name}", intel(name)
    yield from OTHERS.items()


rows = []
for kind, names in (("gpu", gpus()), ("cpu", cpus())):
    watts = {r["name"]: r["tdp_w"] for r in read_table(data / f"{kind}_tdp.csv")}
    for name, label in names:
        rows.append([kind, name, watts[label] if label else ""])
write(data / "../tests/fixtures/device_names.csv", ["kind", "name", "watts"], rows)
