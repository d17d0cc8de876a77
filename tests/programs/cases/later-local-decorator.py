from accelerate import Accelerator

@Accelerator.on_local_main_process
def show():
    print("here")
