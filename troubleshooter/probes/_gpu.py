"""What a host's GPUs are and can do, for the probes that ask. Takes ``torch.cuda`` as an argument, so that tests can
hand in another. Standard library only; must parse under Python 3.8.
"""


def host_facts(cuda, environ, nvidia):
    """The driver's view (all cards, in PCI order) and torch's (those it may see, in its own order), with findings."""
    found = dict(
        order=environ.get("CUDA_DEVICE_ORDER"), visible=environ.get("CUDA_VISIBLE_DEVICES"), wheel=wheel_of(cuda)
    )
    found["devices"] = list(_torch_view(cuda, found["wheel"]))
    found["driver"] = [
        dict(
            index=row["index"],
            name=row["name"],
            uuid=row["uuid"],
            capability=tuple(row["capability"]) if row.get("capability") else None,
        )
        for row in nvidia
    ]
    _judge(found)
    return found


def wheel_of(cuda):
    """The architectures that this build of torch holds code for; asked of the build, not of a device."""
    try:
        listed = list(cuda.get_arch_list())
    except Exception:
        listed = []
    if not listed:
        try:
            import torch

            listed = (torch._C._cuda_getArchFlags() or "").split()
        except (ImportError, AttributeError):
            listed = []
    return listed


def _torch_view(cuda, wheel):
    if not cuda.is_available():
        return
    for index in range(cuda.device_count()):
        properties = cuda.get_device_properties(index)
        capability = (properties.major, properties.minor)
        yield dict(
            index=index,
            name=properties.name,
            capability=capability,
            memory_gb=round(properties.total_memory / 2**30, 1),
            uuid=str(getattr(properties, "uuid", "") or ""),
            in_wheel=in_wheel(capability, wheel),
            # torch.cuda.is_bf16_supported() says True on cards that only emulate it; the capability does not.
            bf16_native=capability >= (8, 0),
            int8_tensor_cores=capability >= (7, 5),
            fp16_fast=capability >= (7, 0) or capability == (6, 0),
        )


def in_wheel(capability, architectures):
    """Whether a build of torch runs on a card: machine code of its generation, or PTX of an older one."""
    for name in architectures:
        kind, _, digits = name.partition("_")
        digits = digits.rstrip("af")
        if not digits.isdigit():
            continue
        built = (int(digits[:-1]), int(digits[-1]))
        if kind == "sm" and built[0] == capability[0] and built[1] <= capability[1]:
            return True
        if kind == "compute" and built <= tuple(capability):
            return True
    return False


def _judge(found):
    everyone = found["driver"] or found["devices"]
    capabilities = {one["capability"] for one in everyone if one["capability"]}
    found["mixed"] = len({one["name"] for one in everyone}) > 1 or len(capabilities) > 1
    found["ambiguous"] = found["mixed"] and found["order"] != "PCI_BUS_ID"
    found["old"] = [one["index"] for one in everyone if one["capability"] and one["capability"] < (7, 5)]
    findings = found["findings"] = []
    if found["mixed"]:
        findings.append(
            "unlike GPUs in one host (%s)" % ", ".join("%d: %s" % (o["index"], o["name"]) for o in everyone)
        )
    if found["ambiguous"]:
        findings.append(
            "CUDA_DEVICE_ORDER is not PCI_BUS_ID: torch counts the fastest first, nvidia-smi by slot, "
            "so cuda:0 may be another card than GPU 0"
        )
    for one in everyone:
        here = "GPU %d (%s)" % (one["index"], one["name"])
        if one["capability"] and found["wheel"] and not in_wheel(one["capability"], found["wheel"]):
            findings.append("%s has no code in this build of torch" % here)
        if one["capability"] and one["capability"] < (8, 0):
            findings.append("%s has no bfloat16 of its own (capability below 8.0)" % here)
        if one["index"] in found["old"]:
            findings.append(
                "%s lies below capability 7.5: in 8 bit, bitsandbytes before 0.45 takes a path there "
                "whose backward mixes Half and float" % here
            )


def old_bitsandbytes():
    """The installed bitsandbytes if it is one whose 8-bit fallback mixes precisions, else None."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version("bitsandbytes")
    except PackageNotFoundError:
        return None
    numbers = installed.split(".")
    return installed if (int(numbers[0]), int(numbers[1])) < (0, 45) else None
